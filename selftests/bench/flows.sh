#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flows.sh RUNS costs: what it costs to count flows, ours and those of others.
# flows.sh RUNS tables FLOWS: with tables of up to FLOWS, and their dumps.
# Prints "sample SERIES VALUE"; see run.
set -uo pipefail

runs=$1 what=$2 flows=${3:-}
bench=$TREE/build/selftests/bench
parameters=/sys/module/peerlane/parameters

# build_net A B: two namespaces and a cable; nothing but what we send is on it.
build_net() {
	local a=$1 b=$2
	ip netns add "$a" && ip netns add "$b" || return
	ip link add cable address 02:00:00:00:00:0a netns "$a" type veth \
		peer name cable address 02:00:00:00:00:0b netns "$b" || return
	ip -n "$a" address add 10.90.0.1/24 dev cable
	ip -n "$b" address add 10.90.0.2/24 dev cable
	for node in "$a" "$b"; do
		ip -n "$node" link set cable up
		ip -n "$node" link set lo up
	done
	ip -n "$a" neighbour replace 10.90.0.2 lladdr 02:00:00:00:00:0b dev cable nud permanent
	ip -n "$b" neighbour replace 10.90.0.1 lladdr 02:00:00:00:00:0a dev cable nud permanent
	ip -n "$a" route add 10.91.0.0/16 via 10.90.0.2
	ip -n "$b" route add local 10.91.0.0/16 dev lo
	# Accounting, and nothing forgotten while we measure.
	inside "$a" sysctl -q net.netfilter.nf_conntrack_acct=1 \
		net.netfilter.nf_conntrack_udp_timeout=86400 \
		net.netfilter.nf_conntrack_udp_timeout_stream=86400
}

inside() {
	local node=$1
	shift
	nsenter --net="/run/netns/$node" "$@"
}

# Both have the same number of buckets.
set_buckets() {
	echo "$1" >"$parameters/max_flows" &&
		echo "$1" >/sys/module/nf_conntrack/parameters/hashsize &&
		echo $((2 * $1)) >/proc/sys/net/netfilter/nf_conntrack_max
}

for module in nf_conntrack nf_conntrack_netlink nft_ct; do
	modprobe "$module" || exit
done
echo 1 >/proc/sys/net/core/bpf_jit_enable
sysctl -q net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1

case $what in
costs)
	set_buckets "$(<"$parameters/max_flows")" && build_net a b || exit
	inside a "$bench/flow_bench" "$runs" costs cable /run/netns/b \
		"$bench/flow_count.bpf.o" "$bench/flow_count_qpn.bpf.o"
	;;
tables)
	set_buckets $((1 << 20)) && build_net a b || exit
	inside a "$bench/flow_bench" "$runs" tables /run/netns/b "$flows"
	;;
esac
