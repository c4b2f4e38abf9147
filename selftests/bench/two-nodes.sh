#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# two-nodes.sh RUNS: perftest between two nodes, from BAR to BAR and from host
# memory to host memory in turn, then copies by CPU.  Node 1 prints
# "sample SERIES VALUE"; see run.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

runs=$1
log=/tmp/perftest.$NODE
failed=0

# once SERIES SIDE COLUMN PROGRAM OPTION...
once() {
	local series=$1 side=$2 column=$3
	shift 3
	# A packet that is lost for good on a busy machine: one more try.
	if ! perftest "$log" "$@" && ! perftest "$log" "$@"; then
		sed "s/^/! $series $side: /" "$log"
		failed=1
		return
	fi
	[ "$NODE" -ne 1 ] || echo "sample $series/$side $(perftest_figure "$log" "$column")"
}

pair() {
	once "$1" bar "${@:2}" --mmap=/dev/peerlane/gpu0
	once "$1" host "${@:2}"
}

for ((run = 1; run <= runs; run++)); do
	[ "$NODE" -ne 1 ] || echo "progress perftest, run $run of $runs"
	pair perftest-write-bw 4 ib_write_bw -s 65536 -n 50
	pair perftest-read-bw 4 ib_read_bw -s 65536 -n 50
	pair perftest-write-lat 5 ib_write_lat -s 8 -n 200
done
if [ "$NODE" -eq 1 ]; then
	echo "progress copies"
	timeout 200 "$TREE/build/selftests/bench/micro" "$runs" copy || failed=1
fi
exit "$failed"
