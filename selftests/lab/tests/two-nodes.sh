#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a node of the lab is, and what a link does to packets.  With --bars.
set -uo pipefail

# shellcheck source=../../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../../verbs/guest.sh"

log=/tmp/two-nodes.$NODE
other=$((3 - NODE))
link=node1-node2

own_name() {
	[ "$(hostname)" = "node$NODE" ] && [ "$(lab exec "node$other" -- hostname)" = "node$other" ]
}

own_shm() {
	[ -s /dev/shm/mine ] && [ "$(</dev/shm/mine)" = "$NODE" ]
}

shared_folder() {
	[ -e "$LAB_SHARED/from-$other" ]
}

own_device() {
	[ -c "$DEVICE" ] && [ "$DEVICE" = "/dev/peerlane/gpu$((NODE - 1))" ]
}

# The average round trip in microseconds, of 5 packets.
round_trip() {
	ping -c 5 -i 0.2 -q "node$other" | sed -n 's|.*= [0-9.]*/\([0-9]*\)\.\([0-9]\{3\}\).*|\1\2|p'
}

# Twice the 40 ms of one way, and not what it was before.
delay() {
	local before after
	before=$(round_trip)
	lab set "$link" delay 40
	after=$(round_trip)
	lab set "$link" delay 0
	echo "round trip: $before us, with 40 ms each way: $after us"
	[ "$((10#$after - 10#$before))" -ge 75000 ] && [ "$((10#$after))" -le 160000 ]
}

# drops: of netem, in the direction of the transfers.
drops() {
	lab counters 'node1>node2' |
		sed -n 's/.*"kind": "netem"//; s/"kind": "tbf".*//; s/.*"drops": \([0-9]*\).*/\1/p'
}

# sha NODE OFFSET: of 64 KiB in its BAR, as the host sees it.
sha() { host bar-sha256 "$1" 0 "$2" 65536; }

# arrives LETTER: put by the host into node 1's BAR, found by the host in node 2's.
# perftest writes the first half of its memory to the second half of the other's.
arrives() {
	local want _ try
	read -r want _ < <(head -c 65536 /dev/zero | tr '\0' "$1" | sha256sum)
	for ((try = 0; try < 20; try++)); do
		# Again each time: what was there before the program came was wiped.
		host bar-fill 1 0 0 65536 "$(printf '0x%x' "'$1")" || return
		sleep 0.5
		[ "$(sha 2 65536)" != "$want" ] || return 0
	done
	return 1
}

transfer() { perftest "$log" ib_write_bw -s 65536 -D 10 "--mmap=$DEVICE"; }

bar_to_bar() {
	local job status
	transfer &
	job=$!
	arrives "$1"
	status=$?
	wait "$job" || { cat "$log"; return 1; }
	return "$status"
}

lossy_transfer() {
	local before lost
	before=$(drops)
	bar_to_bar L || return
	lost=$(($(drops) - before))
	echo "lost: $lost packets"
	[ "$lost" -gt 0 ]
}

switch_is_refused() {
	! lab exec no-switch -- true && ! lab set no-link loss 1 && ! lab set "$link" loss 101
}

echo "$NODE" >/dev/shm/mine
echo "$NODE" >"$LAB_SHARED/from-$NODE"
barrier written || exit 1
if [ "$NODE" -eq 2 ]; then
	for perftest_port in 18600 18601; do
		transfer || { cat "$log"; exit 1; }
	done
	barrier end 120
	exit
fi
plan 8
perftest_port=18600
check "a node has a host name of its own" own_name
check "and a /dev/shm of its own" own_shm
check "all nodes share a folder" shared_folder
check "a node has a BAR device of its own" own_device
check "a link delays as it is told to at run time" delay
check "what is not there is refused" switch_is_refused
check "RDMA from BAR to BAR, as seen by the host" bar_to_bar P
lab set "$link" loss 5
perftest_port=18601
check "packets are lost, and a transfer is right all the same" lossy_transfer
barrier end 120
finish
