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

# two LOG: two programs at once, each with half of the queue pairs: these are made
# in another order at each node, and then several have one UDP source port.
two() {
	local first status=0
	perftest_port=18700
	perftest "$1" ib_write_bw -q "$many" -s 64 -n 5 -t 5 &
	first=$!
	perftest_port=18710
	perftest "${1%.log}.second.log" ib_write_bw -q "$many" -s 64 -n 5 -t 5 || status=1
	wait "$first" || status=1
	[ "$status" -eq 0 ] || cat "${1%.log}.second.log"
	return "$status"
}

mirror && peerlane flow observe local on || exit 1
plan 2
# A few share a port with others, and their numbers do not tell them apart.
options=(--paired=95 --stat="created=$((4 * many))" --stat=missed_full=0 --stat=missed_memory=0)
traffic many two
finish
