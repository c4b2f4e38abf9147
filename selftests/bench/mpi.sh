#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mpi.sh RUNS: all-reduce of f32 by a group and by Open MPI over TCP, in turn, in
# one program with two ranks on each of two nodes.  Node 1 prints "sample SERIES
# VALUE"; see run.
set -uo pipefail

# shellcheck source=../mpi/mpi_lib.sh
. "${BASH_SOURCE[0]%/*}/../mpi/mpi_lib.sh"

runs=$1
failed=0

# pace BYTES TIMES
pace() {
	if with_group "$programs/pace" "$1" "$(($2 * runs))" && ! grep 'go to MPI' "$log"; then
		grep '^sample ' "$log"
	else
		sed 's/^/! /' "$log"
		failed=1
	fi
}

start_all
if [ "$NODE" -eq 1 ]; then
	echo "progress all-reduce of 4 ranks"
	pace 8 10
	pace 4096 10
	pace 1048576 2
	kill "$aggregator"
fi
barrier mpi-done 1500
exit "$failed"
