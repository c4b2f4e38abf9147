#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mpi.sh RUNS [tcp|openib|ucx] [SIZE...]: all-reduce of f32 by a group and by Open
# MPI with that transport, else with the fastest that works here, in turn, in one
# program with 2, 4 and 8 ranks on two nodes.  Node 1 prints "sample SERIES VALUE";
# see run.
set -uo pipefail

# shellcheck source=../mpi/mpi_lib.sh
. "${BASH_SOURCE[0]%/*}/../mpi/mpi_lib.sh"

runs=$1
shift
candidates=(tcp openib ucx)
case ${1:-} in tcp | openib | ucx) candidates=("$1") && shift ;; esac
[ $# -gt 0 ] || set -- 8 4096 1048576 67108864
failed=0
mpi_patience=1200

# What Open MPI has for RoCE and what it always has.  The device's name has a
# port behind it for UCX only.
declare -A transports=(
	[tcp]='--mca pml ob1 --mca btl self,vader,tcp'
	[openib]="--mca pml ob1 --mca btl self,vader,openib --mca btl_openib_if_include $RDMA_DEV
		--mca btl_openib_allow_ib 1 --mca btl_openib_cpc_include rdmacm
		--mca btl_openib_gid_index $RDMA_GID"
	[ucx]="--mca pml ucx -x UCX_TLS=rc_v,self,sm -x UCX_NET_DEVICES=$RDMA_DEV:1
		-x UCX_IB_GID_INDEX=$RDMA_GID"
)

# alone NAME: median us of 4 KiB by that transport, without a group; or nothing
alone() {
	read -r -d '' -a transport <<<"${transports[$1]}"
	ranks 4
	if ! mpi_patience=150 plainly "$programs/pace" 4096 20; then
		tail -n 3 "$log" | sed "s/^/# $1: /" >&2
		return
	fi
	sed -n 's/^sample [^ ]*mpi //p' "$log" | sort -n | sed -n 10p
}

choose_transport() {
	local name us best=${candidates[0]} least=''
	[ ${#candidates[@]} -gt 1 ] || candidates=()
	for name in "${candidates[@]}"; do
		us=$(alone "$name")
		echo "# Open MPI by $name: ${us:-does not work} ${us:+us for 4 KiB, 4 ranks}"
		[ -n "$us" ] || continue
		[ -z "$least" ] || awk "BEGIN { exit !($us < $least) }" || continue
		best=$name
		least=$us
	done
	read -r -d '' -a transport <<<"${transports[$best]}"
	echo "progress Open MPI goes by $best"
}

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
