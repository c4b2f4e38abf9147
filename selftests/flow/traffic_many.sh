#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --cpus 1 --host-hook selftests/flow/hook -- \
#	selftests/flow/traffic_many.sh
#
# 1000 queue pairs of two processes: a flow each way for each, with its own
# packets, and its own queue pair at the other end.
set -uo pipefail

# shellcheck source=traffic.sh
. "${BASH_SOURCE[0]%/*}/traffic.sh"

many=500

# Until this node has them, or has had them.
wait_half() {
	for _ in {1..600}; do
		[ "$(rdma resource show qp | grep -c 'type RC')" -lt "$many" ] || return 0
		sleep 0.1
	done
}

# two LOG: two programs, each with half of the queue pairs. The second one makes
# its own when both nodes have those of the first: where they are made in another
# order at each node, a UDP source port may belong to two pairs, and which flows
# belong together cannot be told by it.
two() {
	local first status=0
	perftest_port=18700
	perftest "$1" ib_write_bw -q "$many" -s 64 -n 5 -t 5 &
	first=$!
	wait_half
	barrier half 90
	perftest_port=18710
	perftest "${1%.log}.second.log" ib_write_bw -q "$many" -s 64 -n 5 -t 5 || status=1
	wait "$first" || status=1
	[ "$status" -eq 0 ] || cat "${1%.log}.second.log"
	return "$status"
}

mirror && peerlane flow observe local on || exit 1
plan 2
options=(--stat="created=$((4 * many))" --stat=missed_full=0 --stat=missed_memory=0)
traffic many two
finish
