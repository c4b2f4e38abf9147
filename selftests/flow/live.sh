#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --host-hook selftests/flow/hook -- \
#	selftests/flow/live.sh
#
# Each kind of RDMA traffic that rxe has, caught on node 1, in both directions;
# the host has the parser and tshark read it. With --keep the captures stay.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

# All headers of any packet, and little of what it carries.
snaplen=206
tcpdump_pid=''

# The index of the GID that is our link-local address in RoCE v2.
link_local_gid() {
	local dir=/sys/class/infiniband/$RDMA_DEV/ports/1 k
	for ((k = 0; k < 16; k++)); do
		[[ $(<"$dir/gids/$k") == fe80:* ]] || continue
		[[ $(<"$dir/gid_attrs/types/$k") == *v2* ]] || continue
		echo "$k"
		return
	done 2>/dev/null
}

# To the end of the file in a signal's time: -U writes each packet as it comes.
catch() {
	[ "$NODE" -eq 1 ] || return 0
	tcpdump -Z root -i eth0 -p -U -B 4096 -s "$snaplen" -w "$OUT/$1.pcap" udp port 4791 \
		2>"/tmp/tcpdump.$1" &
	tcpdump_pid=$!
	local try
	for ((try = 0; try < 200; try++)); do
		! grep -q 'listening on' "/tmp/tcpdump.$1" || return 0
		sleep 0.1
	done
	cat "/tmp/tcpdump.$1"
	return 1
}

let_go() {
	[ "$NODE" -eq 1 ] || return 0
	sleep 1
	kill -INT "$tcpdump_pid"
	wait "$tcpdump_pid"
}

# traffic NAME COMMAND...: run on both nodes while node 1 listens.
traffic() {
	local name=$1 log=/tmp/$1.$NODE rc
	shift
	ktap-mark "$name"
	catch "$name" >"$log" 2>&1
	barrier "catch-$name" 60
	"$@" "$log"
	rc=$?
	result "$rc" "$name runs" "$log"
	barrier "caught-$name" 120
	let_go
	[ "$NODE" -eq 1 ] || return 0
	host flow-compare 1 "$name" >"$log" 2>&1
	result $? "$name: parser and tshark agree" "$log"
}

bench() {
	local log=${*: -1}
	perftest "$log" "${@:1:$#-1}"
}

data() {
	local log=${*: -1}
	pattern "${@:1:$#-1}" >"$log" 2>&1
}

# Also the messages of the connection manager.
ping_rdma() {
	local server
	if [ "$NODE" -eq 2 ]; then
		rping -s -C 5 -S 100 -a "$NODE_IP_2" -p 18900 >"$1" 2>&1 &
		server=$!
		sleep 1
		barrier rping 60
		wait "$server"
		return
	fi
	barrier rping 60
	rping -c -v -C 5 -S 100 -a "$NODE_IP_2" -p 18900 >"$1" 2>&1
}

build_programs || exit 1
v6=$(link_local_gid)
plan $((NODE == 1 ? 26 : 13))
traffic rc-write bench ib_write_bw -s 4097 -n 5
traffic rc-read bench ib_read_bw -s 4098 -n 5
traffic rc-send bench ib_send_bw -s 3001 -n 5 -r 5
traffic rc-fetch-add bench ib_atomic_bw -n 5
traffic rc-compare-swap bench ib_atomic_bw -n 5 -A CMP_AND_SWAP
traffic uc-write bench ib_write_bw -c UC -s 4099 -n 5
traffic uc-send bench ib_send_bw -c UC -s 3003 -n 5 -r 5
traffic ud-send bench ib_send_bw -c UD -s 1001 -n 5 -r 5
traffic rc-write-v6 bench ib_write_bw -x "$v6" -s 4097 -n 5
traffic ud-send-v6 bench ib_send_bw -c UD -x "$v6" -s 1001 -n 5 -r 5
traffic rc-immediate data write_imm:8191:bar+1:bar+8193 write_imm:1001:bar+1:bar+8193
traffic rc-data data send:7777:host+1:bar+100 read:4097:bar+131:bar+131 \
	fetch_add:8:host+0:bar+4096
traffic cm ping_rdma
finish
