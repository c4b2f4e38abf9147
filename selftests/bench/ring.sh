#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ring.sh RUNS [RATE [BYTES]]: all-reduce of half of the nodes, whose links are
# limited to RATE (mbit) in each direction, by aggregators at the others; by one of
# them with a link as wide as all; and by aggregators at the workers themselves.
# Beside it what a ring takes at least there: each link has to carry 2 (N - 1) / N of
# the data each way.  Node 1 prints "sample SERIES VALUE"; see run.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

runs=$1
rate=${2:-4}
bytes=${3:-8388608}
workers=$((NODES / 2))
log=/tmp/ring
failed=0
number=0
# Packets of RoCE have 4096 bytes and their headers; a queue that drops none
burst=20k
queue=16m
export PEERLANE_SECRET="limited links of $NODES nodes"

# limit MBIT: both directions of this node's link
limit() {
	tc qdisc replace dev eth0 root tbf rate "$1mbit" burst "$burst" limit "$queue" &&
		tc qdisc replace dev ifb0 root tbf rate "$1mbit" burst "$burst" limit "$queue"
}

links() {
	modprobe -a sch_tbf sch_ingress cls_matchall act_mirred &&
		modprobe ifb numifbs=1 &&
		ip link set ifb0 up mtu 9000 &&
		tc qdisc add dev eth0 ingress &&
		tc filter add dev eth0 ingress matchall action mirred egress redirect dev ifb0
}

# start_aggregator: at this node
start_aggregator() {
	local try own=NODE_IP_$NODE
	peerlane aggregator --listen "${!own}" --memory 16m --timeout 60000 \
		--join-timeout 200000 -j >/tmp/aggregator 2>&1 &
	aggregator=$!
	for ((try = 0; try < 600; try++)); do
		! grep -q '"listening"' /tmp/aggregator || return 0
		sleep 0.2
	done
	return 1
}

# call PLACEMENT WINDOW FIRST LAST: a rank of workers, with the aggregators of those nodes
call() {
	local node address words=()
	for ((node = $3; node <= $4; node++)); do
		address=NODE_IP_$node
		words+=(-a "${!address}")
	done
	timeout 600 peerlane bench allreduce --rank $((NODE - 1)) --size "$workers" "${words[@]}" \
		--placement "$1" --group "ring $number" --segment 16k --window "$2" \
		--timeout 60000 --op-timeout 300000 --join-timeout 200000 \
		-b "$bytes" -n 1 -w 1 --check -j >"$log" 2>&1
}

# tell SERIES: seconds
tell() {
	python3 -c 'import json, sys
row = json.load(open(sys.argv[1]))[0]
assert row["errors"] == 0
print("sample %s/peerlane %.4f" % (sys.argv[2], row["latency_ns"]["p50"] / 1e9))
ranks, size, rate = int(sys.argv[3]), row["size"], float(sys.argv[4]) * 125000
print("sample %s/ring %.4f" % (sys.argv[2], 2 * (ranks - 1) / ranks * size / rate))' \
		"$log" "$1" "$workers" "$rate"
}

# Of the three operations one warms up, one is measured, and one compared.
# carried: bytes that went out, and came in, by this node's link
carried() { awk '$1 == "eth0:" { print $10, $2 }' /proc/net/dev; }

# measure SERIES PLACEMENT WINDOW FIRST LAST
measure() {
	local run before after series=$1
	shift
	[ "$NODE" -ne 1 ] || echo "progress $series"
	for ((run = 0; run < runs; run++)); do
		number=$((number + 1))
		read -ra before < <(carried)
		barrier "ring-$number" 1000
		if [ "$NODE" -le "$workers" ] && ! call "$@"; then
			sed 's/^/! /' "$log"
			failed=1
		fi
		[ "$NODE" -ne 1 ] || tell "$series" || failed=1
		barrier "rung-$number" 1000
		read -ra after < <(carried)
	done
	echo "# $series: node $NODE at $(tc qdisc show dev eth0 root | grep -o 'rate [^ ]*') sent $((after[0] - before[0]))" \
		"bytes and received $((after[1] - before[1])), in three operations of $bytes"
}

links && limit "$rate" && start_aggregator || exit 1
measure "allreduce-ring-n$workers" dedicated 8 $((workers + 1)) $((2 * workers))
measure "allreduce-ring-n$workers-colocated" colocated 8 1 "$workers"
[ "$NODE" -ne $((workers + 1)) ] || limit $((rate * workers))
measure "allreduce-ring-n$workers-one" dedicated 32 $((workers + 1)) $((workers + 1))
kill "$aggregator"
exit "$failed"
