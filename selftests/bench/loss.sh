#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# loss.sh RUNS [--timeout MS] [PERCENT...]: how long all-reduce of 64 KiB takes when
# packets get lost at random in both directions between two nodes.  Node 1 has the aggregator
# and rank 0, node 2 has rank 1, so all that is lost is between that one and the
# aggregator.  Node 1 prints "sample SERIES VALUE"; see run.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

runs=$1
shift
timeout=60000
[ "${1:-}" != --timeout ] || { timeout=$2; shift 2; }
[ $# -gt 0 ] || set -- 0 0.01 0.1 1
log=/tmp/loss
failed=0
operations=200
export PEERLANE_SECRET="lost between $NODES nodes"

start_aggregator() {
	local try
	[ "$NODE" -eq 1 ] || return
	# shellcheck disable=SC2153 # from the rig
	peerlane aggregator --listen "$NODE_IP_1" --memory 16m --timeout "$timeout" \
		--join-timeout 100000 -j >/tmp/aggregator 2>&1 &
	aggregator=$!
	for ((try = 0; try < 300; try++)); do
		! grep -q '"listening"' /tmp/aggregator || return 0
		sleep 0.2
	done
	return 1
}

lose() {
	tc qdisc del dev eth0 root 2>/dev/null
	[ "$1" = 0 ] || tc qdisc add dev eth0 root netem loss "$1%" limit 10000
}

# dropped: packets that this node's end of the cable lost
dropped() { tc -s qdisc show dev eth0 | sed -n '1,3s/.*dropped \([0-9]*\),.*/\1/p'; }

# call NAME: a rank, and its group
call() {
	timeout 1200 peerlane bench allreduce --rank $((NODE - 1)) --size 2 -a "$NODE_IP_1" \
		--group "loss $1" --timeout "$timeout" --op-timeout 100000 --join-timeout 100000 \
		-b 64k -n "$operations" -w 20 --check -j >"$log" 2>&1
}

# tell PERCENT: all data was right, and what it took
tell() {
	python3 -c 'import json, sys
row = json.load(open(sys.argv[1]))[0]
assert row["errors"] == 0
for key in ("p50", "p99", "max"):
    print("sample allreduce-loss-%s/%s %.1f" % (sys.argv[2], key, row["latency_ns"][key] / 1000))' \
		"$log" "$1"
}

measure() {
	local run
	for ((run = 0; run < runs; run++)); do
		barrier "loss-$1-$run" 1300 && call "$1 $run" || failed=1
		[ "$NODE" -ne 1 ] || tell "$1" || { sed 's/^/! /' "$log"; failed=1; }
	done
}

start_aggregator
for percent in "$@"; do
	lose "$percent"
	[ "$NODE" -ne 1 ] || echo "progress loss of $percent %"
	measure "$percent"
	barrier "lost-$percent" 1300
	echo "# loss of $percent %: node $NODE dropped $(dropped) packets"
done
[ "$NODE" -ne 1 ] || kill "$aggregator"
exit "$failed"
