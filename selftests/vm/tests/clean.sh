#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs on each of two nodes; all of it has to go well.  Only node 1 speaks TAP.
set -euo pipefail

count=0
result() {
	local rc=$?
	count=$((count + 1))
	[ "$NODE" = 1 ] || return 0
	if [ "$rc" -eq 0 ]; then
		echo "ok $count $1"
	else
		echo "not ok $count $1"
	fi
}

# The first BAR device; the order of addresses is the order of BARs.
first_bar() {
	local dev
	for dev in /sys/bus/pci/devices/*; do
		[ "$(<"$dev/vendor"):$(<"$dev/device")" = 0x1af4:0x1110 ] || continue
		echo "$dev"
		return 0
	done
	return 1
}

count_class() {
	local file found=0
	for file in /sys/bus/pci/devices/*/class; do
		[[ $(<"$file") == "$1"* ]] && found=$((found + 1))
	done
	[ "$found" -eq "$2" ]
}

write_bar() {
	echo 1 >"$1/enable"
	python3 -c "
import mmap, sys
with open(sys.argv[1] + '/resource2', 'r+b') as file:
    with mmap.mmap(file.fileno(), 1 << 20) as bar:
        bar[0x1000:0x1008] = b'peerlane'
" "$1"
}

pingpong() {
	if [ "$NODE" = 1 ]; then
		timeout 60 ibv_rc_pingpong -d "$RDMA_DEV" -g "$RDMA_GID" -n 20
		return
	fi
	local try
	for try in 1 2 3 4 5 6 7 8; do
		sleep 0.5
		timeout 60 ibv_rc_pingpong -d "$RDMA_DEV" -g "$RDMA_GID" -n 20 "$NODE_IP_1" && return
		echo "attempt $try did not connect"
	done
	return 1
}

[ "$NODE" != 1 ] || echo 1..8

{ barrier both; } && true
result "a barrier of two nodes"

{ ping -c 1 -w 20 -M "do" -s 4000 "node$((3 - NODE))" >/dev/null; } && true
result "the other node answers in large frames"

{ pingpong; } && true
result "RDMA between the nodes"

bar=$(first_bar)
{ write_bar "$bar" && [ "$(host bar-read "$NODE" 0 0x1000 8)" = peerlane ]; } && true
result "the host sees what was written to the BAR"

{ [ "$(host echo-node "a b")" = "hook $NODE: a b" ] && ! host fail-hook; } && true
result "the host hook answers"

{ host device-del bar0 && [ ! -e "$bar" ]; } && true
result "a device is unplugged"

{
	host device-add bar0
	for ((try = 0; try < 100; try++)); do
		[ ! -e "$bar" ] || break
		sleep 0.1
	done
	[ -e "$bar" ]
} && true
result "and plugged in again"

count=$((count + 1))
[ "$NODE" != 1 ] || echo "ok $count something this machine lacks # SKIP as expected"
barrier end
