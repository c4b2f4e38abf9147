#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# endpoint.sh RUNS: puts and gets by endpoints, and the same by perftest, in
# turn, from host memory to host memory of two nodes.  Node 1 prints
# "sample SERIES VALUE"; see run.
set -uo pipefail

# shellcheck source=endpoint_lib.sh
. "${BASH_SOURCE[0]%/*}/endpoint_lib.sh"

runs=$1
failed=0

# sample SERIES SIDE VALUE
sample() {
	[ "$NODE" -ne 1 ] || echo "sample $1/$2 $3"
}

# twice COMMAND...: a packet that is lost for good on a busy machine is one more
# try.
twice() {
	"$@" || "$@" || {
		sed "s/^/! $series: /" "$log"
		failed=1
		return 1
	}
}

# bandwidth NAME TEST SIZE COUNT PERFTEST
bandwidth() {
	series=$1
	twice bench "$2" -s "$3" -n "$4" -t 32 &&
		sample "$1" peerlane "$(bench_figure 'value["bytes_per_second"] / 1048576')"
	twice perftest "$log" "$5" -s "$3" -n "$4" -t 32 &&
		sample "$1" perftest "$(perftest_figure "$log" 4)"
}

# latency SIDE OPTION...: half of there and back, us
latency() {
	local side=$1
	shift
	series=put-latency
	twice bench lat -s 8 -n 200 "$@" &&
		sample put-latency "$side" "$(bench_figure 'value["p50"] / 1000')"
}

# rival SIDE PERFTEST OPTION...: the same by perftest
rival() {
	local side=$1
	shift
	series=put-latency
	twice perftest "$log" "$@" -s 8 -n 200 &&
		sample put-latency "$side" "$(perftest_figure "$log" 5)"
}

for ((run = 1; run <= runs; run++)); do
	[ "$NODE" -ne 1 ] || echo "progress endpoints, run $run of $runs"
	bandwidth put-bw-4k put 4096 1600 ib_write_bw
	bandwidth put-bw-64k put 65536 256 ib_write_bw
	bandwidth put-bw-1m put 1048576 24 ib_write_bw
	bandwidth get-bw-1m get 1048576 24 ib_read_bw
	latency peerlane
	latency separate --separate
	latency busy --busy-poll
	latency memory --poll-memory
	rival perftest ib_write_lat
	rival asleep ib_send_lat -e
done
exit "$failed"
