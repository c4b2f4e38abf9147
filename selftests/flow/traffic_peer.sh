#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --cpus 1 --host-hook selftests/flow/hook -- \
#	selftests/flow/traffic_peer.sh
#
# Real traffic between nodes of which one is slow, or dies, or whose network is
# congested; queue pairs that find each other in each way; IPv6 and UD.
set -uo pipefail

# shellcheck source=traffic.sh
. "${BASH_SOURCE[0]%/*}/traffic.sh"

# killed LOG: node 2's program ends in the middle of it.
killed() {
	local log=$1 server
	if [ "$NODE" -eq 2 ]; then
		stdbuf -oL ib_write_bw -d "$RDMA_DEV" -x "$RDMA_GID" -F -p 18800 -s 20000 -t 4 \
			-D 60 >"$log" 2>&1 &
		server=$!
		wait_listening 18800
		barrier killed 60
		wait_packets 200
		kill -KILL "$server"
		wait "$server"
		return 0
	fi
	barrier killed 60
	! timeout 30 stdbuf -oL ib_write_bw -d "$RDMA_DEV" -x "$RDMA_GID" -F -u 14 -p 18800 -s 20000 -t 4 \
		-D 60 "$NODE_IP_2" >"$log" 2>&1
}

# total NAME: of all flows
total() { peerlane -j flow stats | tr ',' '\n' | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"; }

wait_packets() {
	local try before
	before=$(total packets)
	for ((try = 0; try < 100; try++)); do
		[ "$(($(total packets) - before))" -lt "$1" ] || return 0
		sleep 0.2
	done
	return 1
}

# idle: of the flow whose last packet is longest ago, ms
idle() { peerlane -j flow list | tr ',' '\n' | sed -n 's/.*"idle": *\([0-9]*\).*/\1/p' | sort -n | tail -n 1; }

ages() {
	local before
	before=$(idle)
	sleep 2
	echo "idle: $before ms, and 2 s later $(idle) ms"
	[ "$(idle)" -ge $((before + 2000)) ]
}

forgotten() {
	local try
	peerlane flow limit idle-timeout 1
	for ((try = 0; try < 60; try++)); do
		[ "$(total flows)" -ne 0 ] || break
		sleep 0.5
	done
	peerlane flow stats
	[ "$(total flows)" -eq 0 ] && [ "$(total expired)" -eq "$(total created)" ]
}

mirror && peerlane flow observe local on || exit 1
plan 14
options=(--pairing=cm)
traffic managed ping_rdma -C 20 -S 3000
options=(--pairing=port)
traffic v6 bench ib_read_bw -x "$(link_local_gid)" -s 9000 -n 20
options=()
traffic ud bench ib_send_bw -c UD -s 1000 -n 50
options=(--need=rnr)
# What it asked for, and what it got, may be captured in another order.
[ "$NODE" -eq 1 ] || options+=(--ignore=timeouts)
traffic slow bench ib_send_bw -s 3000 -n 60 -r 1
marking 8mbit
options=(--need=ect)
[ "$NODE" -eq 1 ] || options+=(--need=ce)
traffic marked bench ib_write_bw --tclass=2 -s 40000 -n 60
leaving pfifo limit 10000
# When the sender gave up waiting is not seen from where packets arrive.
options=(--ignore=timeouts)
[ "$NODE" -ne 1 ] || options=(--need=timeouts)
traffic killed killed
ktap-mark age
check "flows of the dead stay, and age" ages
check "and are forgotten in the end" forgotten
finish
