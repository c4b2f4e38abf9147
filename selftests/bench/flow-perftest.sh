#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flow-perftest.sh RUNS: the instructions of two nodes between which perftest
# sends, with flows counted and without in turn.  QEMU counts instructions.
# Prints "sample SERIES VALUE"; see run.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

runs=$1
log=/tmp/perftest.$NODE
failed=0

# Time is instructions, but for that in which the only processor waited.
busy_ns() {
	awk '{ sub(":", " ") }
	     $1 == "now" { now = $3 }
	     $1 == ".idle_sleeptime" || $1 == ".iowait_sleeptime" { idle += $2 }
	     END { printf "%.0f\n", now - idle }' /proc/timer_list
}

# send_bw: on both nodes; node 2 serves.  Sleeping for completions, or the
# sender would be busy all the time.  Leaves what this node did in $busy, from
# the time when both are ready.
send_bw() {
	local server before rc
	perftest_port=$((perftest_port + 1))
	set -- timeout 300 ib_send_bw -d "$RDMA_DEV" -x "$RDMA_GID" -F -u 18 -e \
		-s 65536 -n 300 -p "$perftest_port"
	if [ "$NODE" -eq 2 ]; then
		"$@" >"$log" 2>&1 &
		server=$!
		while ! is_listening "$perftest_port"; do
			kill -0 "$server" || return
			sleep 0.5
		done
	fi
	barrier "ready-$perftest_port" 300 || return
	before=$(busy_ns)
	if [ "$NODE" -eq 2 ]; then
		wait "$server"
	else
		# shellcheck disable=SC2153 # from the rig
		"$@" "$NODE_IP_2" >"$log" 2>&1
	fi
	rc=$?
	busy=$(($(busy_ns) - before))
	return "$rc"
}

# once SIDE
once() {
	if ! send_bw; then
		sed "s/^/! $1: /" "$log"
		failed=1
		return
	fi
	echo "sample flow-perftest-node$NODE/$1 $busy"
}

observe() {
	peerlane flow observe local "$1" || failed=1
}

send_bw || failed=1
for ((run = 1; run <= runs; run++)); do
	[ "$NODE" -ne 1 ] || echo "progress perftest, run $run of $runs"
	once off
	observe on
	once on
	observe off
done
exit "$failed"
