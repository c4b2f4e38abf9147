#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mpi.sh RUNS [tcp|openib|ucx] [SIZE...]: all-reduce of f32 by a group and by Open
# MPI with that transport, else with the fastest that works here, in turn, in one
# program with 2, 4 and 8 ranks on two nodes.  Node 1 prints "sample SERIES VALUE";
# see run.
set -uo pipefail

# shellcheck source=transport.sh
. "${BASH_SOURCE[0]%/*}/transport.sh"

runs=$1
shift
case ${1:-} in tcp | openib | ucx) candidates=("$1") && shift ;; esac
[ $# -gt 0 ] || set -- 8 4096 1048576 67108864
failed=0
mpi_patience=1200

# Each run of a small one is several, so that a slow moment does not decide.
times_of() {
	if [ "$1" -ge $((1 << 24)) ]; then
		echo 1
	elif [ "$1" -ge $((1 << 20)) ]; then
		echo "$runs"
	else
		echo "$((10 * runs))"
	fi
}

# pace BYTES TIMES...: by the ranks that were said last
pace() {
	if with_group "$programs/pace" "$@" && ! grep 'go to MPI' "$log"; then
		grep '^sample ' "$log"
	else
		sed 's/^/! /' "$log"
		failed=1
	fi
}

measure() {
	local count size words=()
	for size in "$@"; do words+=("$size" "$(times_of "$size")"); done
	for count in 2 4 8; do
		ranks "$count"
		echo "progress all-reduce of $count ranks"
		pace "${words[@]}"
	done
}

start_all
if [ "$NODE" -eq 1 ]; then
	choose_transport
	measure "$@"
	kill "$aggregator"
fi
barrier mpi-done 3400
exit "$failed"
