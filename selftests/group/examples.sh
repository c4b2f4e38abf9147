#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --param aggregator=1 -- selftests/group/examples.sh [OPTION...]
#
# The examples of the library between two nodes: node 1 has the aggregator and
# rank 0, node 2 has rank 1. Node 1 judges. OPTIONs are the examples'.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

log=/tmp/example.$NODE
export PEERLANE_SECRET="hidden by $NODES nodes"
# shellcheck disable=SC2153 # from the rig
export PEERLANE_AGGREGATORS=$NODE_IP_1
export PEERLANE_RANK=$((NODE - 1)) PEERLANE_SIZE=2
[ $# -gt 0 ] || set -- -l 4 -b 131072 -n 2

start_aggregator() {
	local try
	[ "$NODE" -eq 1 ] || return
	peerlane aggregator --listen "$NODE_IP_1" --memory 32m --timeout 30000 \
		--join-timeout 100000 -j >/tmp/aggregator 2>&1 &
	for ((try = 0; try < 300; try++)); do
		! grep -q '"listening"' /tmp/aggregator || return 0
		sleep 0.2
	done
	return 1
}

# figure EXPRESSION: of Python, over what rank 0 printed.
figure() {
	python3 -c 'import json, sys
row = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$log" "$1"
}

# example PROGRAM OPTION...: on both nodes at once.
example() {
	local program=$1 rc
	shift
	PEERLANE_GROUP="$program $*"
	export PEERLANE_GROUP
	barrier "$program-$*" 200
	timeout 240 "$TREE/build/examples/$program" "$@" >"$log" 2>&1
	rc=$?
	[ "$NODE" -ne 1 ] || sed 's/^/# /' "$log"
	return "$rc"
}

# hidden PROGRAM HOW OPTION...: data is right, and times are of one piece.
hidden() {
	local name="$1, computing $2" program=$1 rc
	shift 2
	example "$program" "$@" -j
	rc=$?
	[ "$NODE" -eq 1 ] || return
	[ "$rc" -eq 0 ] && figure 'row["wrong"] == 0'
	result $? "$name: no element is wrong" "$log"
	figure '(min(row[key + "_ns"] for key in ("communicate", "compute", "serial", "overlapped")) > 0
		and row["overlap_min"] <= row["overlap_max"] and abs(row["overlap"] -
		(row["communicate_ns"] + row["compute_ns"] - row["overlapped_ns"])
		/ row["communicate_ns"]) < 0.01)'
	result $? "$name: what was hidden is told" "$log"
}

[ "$NODE" -ne 1 ] || plan 8
start_aggregator
hidden prefetch 'by the CPU' "$@"
hidden prefetch elsewhere "$@" -w
hidden buckets 'by the CPU' "$@"
hidden buckets elsewhere "$@" -w
barrier examples-done 200
finish
