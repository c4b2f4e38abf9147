#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --bars 1 --bar-size 64 --param aggregator=1 -- \
#	selftests/group/loss.sh
#
# What a network may do to packets, in both directions, between eight ranks at node
# 2 and two aggregators at node 1. Sums have the right bits all the same: whatever
# counted twice, or not at all, would be in them.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

far=$TREE/build/selftests/group/far
log=/tmp/loss.$NODE
ports=(18510 18511)

# leaving QDISC...: what becomes of packets that leave this node
leaving() {
	tc qdisc del dev eth0 root 2>/dev/null
	tc qdisc add dev eth0 root handle 1: "$@"
}

# Of RoCE packets those that are an ACK, and no others. The opcode is the first byte
# behind the heads of IPv4 and UDP.
leaving_acks() {
	leaving prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
		tc qdisc add dev eth0 parent 1:3 handle 30: netem limit 10000 loss "$1" &&
		tc filter add dev eth0 parent 1: protocol ip prio 1 u32 \
			match ip protocol 17 0xff match u16 4791 0xffff at 22 \
			match u8 0x11 0xff at 28 flowid 1:3
}

# dropped HANDLE: packets, by tc
dropped() {
	tc -s qdisc show dev eth0 |
		sed -n "/ $1: /,/Sent/s/.*(dropped \([0-9]*\),.*/\1/p"
}

# ce: packets that came here with the mark of congestion, as IP counts them
ce() {
	awk '$1 == "IpExt:" { if (!n) n = split($0, name); else for (i = 2; i <= n; i++)
		if (name[i] == "InCEPkts") print $i }' /proc/net/netstat
}

# Packets may be marked: of all connections that are made from now on.
may_be_marked() {
	local folder=/sys/kernel/config/rdma_cm/$RDMA_DEV
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir -p "$folder" && echo 2 >"$folder/ports/1/default_roce_tos"
}

# flow_bytes: to node 1 in all, of those again, and from there again. Ethernet's heads,
# which the table of flows leaves out, are in it.
flow_bytes() {
	peerlane flow list -j | python3 -c 'import json, sys
def total(end, size, count):
    return sum(flow[size] + 14 * flow[count] for flow in flows if flow[end] == sys.argv[1])
flows = [flow for flow in json.load(sys.stdin) if flow["transport"] == "rc"]
print(total("daddr", "bytes", "packets"),
      total("daddr", "retransmitted_bytes", "retransmitted"),
      total("saddr", "retransmitted_bytes", "retransmitted"))' "$NODE_IP_1"
}
{ declare -f flow_bytes; echo flow_bytes; } >"$log.bytes"
weigh=(-w "bash $log.bytes")

# summed NAME OPTION...: at node 2, with what both nodes do to packets
summed() {
	local name=$1
	shift
	barrier "$name" 300 || return
	if [ "$NODE" -eq 2 ]; then
		timeout 250 "$far" "$@" call "${ports[@]}" >"$log" 2>&1
		result $? "$name" "$log"
		[[ "$name" != "$wire"* ]] || cat "$log"
	fi
	barrier "$name, done" 300
}

# counted NAME COUNT: more than none
counted() {
	echo "# $1: ${2:-none}"
	[ "${2:-0}" -gt 0 ]
	result $? "$1"
}

modprobe -aq sch_netem sch_prio cls_u32
peerlane flow observe local on
if [ "$NODE" -eq 1 ]; then
	"$far" serve "${ports[@]}" >"$log.far" 2>&1 &
	aggregator=$!
	for ((try = 0; try < 300; try++)); do
		! grep -q serving "$log.far" || break
		sleep 0.1
	done
fi
plan $((NODE == 1 ? 3 : 10))
wire='per rank the tensor crosses the wire once up and once down'
summed "$wire" "${weigh[@]}" -n 1 -c 60000
leaving netem limit 10000 loss 3%
summed "$wire, and what is lost again" "${weigh[@]}" -l -c 60000
summed 'with memory that is told while packets are lost' -n 6 -b
counted "packets of node $NODE were lost" "$(dropped 1)"
leaving netem limit 10000 delay 5ms reorder 90%
summed 'with packets that overtake others'
leaving netem limit 10000 duplicate 10%
summed 'with packets that come twice'
leaving_acks 30%
summed 'with ACKs that are lost, and nothing else'
counted "ACKs of node $NODE were lost" "$(dropped 30)"
may_be_marked
leaving netem limit 10000 loss 5% ecn
before=$(ce)
summed 'with packets that are marked'
counted "marks came to node $NODE" $(($(ce) - before))
tc qdisc del dev eth0 root
[ "$NODE" -ne 1 ] || kill "$aggregator"
finish
