#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# endpoint-cost.sh RUNS: the instructions that both nodes take for puts by
# endpoints, and for the same by perftest, in turn.  QEMU counts instructions.
# Prints "sample SERIES VALUE"; see run.
set -uo pipefail

# shellcheck source=endpoint_lib.sh
. "${BASH_SOURCE[0]%/*}/endpoint_lib.sh"

runs=$1
failed=0

# Few and many: the difference is what the operations take, without the start of
# the programs, and connecting.
few=32
many=288

# Time is instructions, but for that in which the only processor waited.
busy_ns() {
	awk '{ sub(":", " ") }
	     $1 == "now" { now = $3 }
	     $1 == ".idle_sleeptime" || $1 == ".iowait_sleeptime" { idle += $2 }
	     END { printf "%.0f\n", now - idle }' /proc/timer_list
}

# cost COUNT COMMAND...: what this node did, in $busy.
cost() {
	local before count=$1
	shift
	barrier "cost-$((perftest_port += 1))" 300 || return
	before=$(busy_ns)
	"$@" -n "$count" || return
	busy=$(($(busy_ns) - before))
}

# each SERIES FACTOR SIDE COMMAND...: instructions of FACTOR operations, on this
# node.
each() {
	local series=$1 factor=$2 side=$3 first
	shift 3
	if ! cost "$few" "$@" || ! first=$busy || ! cost "$many" "$@"; then
		sed "s/^/! $series $side: /" "$log"
		failed=1
		return
	fi
	echo "sample $series-node$NODE/$side $(((busy - first) * factor / (many - few)))"
}

# What writes by verbs cost the node whose memory is written, and what sends cost
# the one that sends: perftest sleeps for the ends of sends only.
for ((run = 1; run <= runs; run++)); do
	[ "$NODE" -ne 1 ] || echo "progress instructions of endpoints, run $run of $runs"
	each put-cpu-per-gib 16384 peerlane bench put -s 65536 -t 32
	each put-cpu-per-gib 16384 write perftest "$log" ib_write_bw -s 65536 -t 32
	each put-cpu-per-gib 16384 send perftest "$log" ib_send_bw -e -s 65536 -t 32
	each put-cost-4k 1 peerlane bench put -s 4096 -t 32
	each put-cost-4k 1 list bench put -s 4096 -t 32 -l 8
	each put-cost-4k 1 write perftest "$log" ib_write_bw -s 4096 -t 32
	each put-cost-4k 1 send perftest "$log" ib_send_bw -e -s 4096 -t 32
	each put-answer 1 peerlane bench lat -s 8
	each put-answer 1 send perftest "$log" ib_send_lat -e -s 8
	each put-answer 1 separate bench lat -s 8 --separate
done
exit "$failed"
