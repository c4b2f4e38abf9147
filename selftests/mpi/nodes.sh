#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --param aggregator=1 -- selftests/mpi/nodes.sh [PART...]
#
# Programs of MPI, two ranks on each of two nodes, whose collectives go through
# a group by libpeerlane-mpi.so. Node 1 has the aggregator, starts and judges;
# node 2 does what mpirun asks for.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

here=$TREE/selftests/mpi
programs=$TREE/build/selftests/mpi
log=/tmp/mpi
events=/tmp/aggregator
export PEERLANE_SECRET="summed by $NODES nodes"
# shellcheck disable=SC2153 # from the rig
export PEERLANE_AGGREGATORS=$NODE_IP_1
# Packets get lost on a busy machine, and programs start slowly.
export PEERLANE_MPI_TIMEOUT=30000 PEERLANE_MPI_JOIN_TIMEOUT=100000
# Small, so that there are pieces.
export PEERLANE_MPI_VERBOSE=1 PEERLANE_MPI_BUFFER=64k

# wait_for PATTERN FILE: until a line of it matches.
wait_for() {
	local try
	for ((try = 0; try < 300; try++)); do
		! grep -q "$1" "$2" 2>/dev/null || return 0
		sleep 0.2
	done
	return 1
}

start_aggregator() {
	peerlane aggregator --listen "$NODE_IP_1" --memory 64m --timeout 30000 \
		--join-timeout 100000 -j >"$events" 2>"$events.err" &
	aggregator=$!
	wait_for '"listening"' "$events"
}

mpirun_=(mpirun --allow-run-as-root --oversubscribe --bind-to none -np 4
	--host "$NODE_IP_1:2,$NODE_IP_2:2"
	--mca plm_rsh_agent "$here/agent" --mca plm_rsh_no_tree_spawn 1
	--mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0
	--mca pml ob1 --mca btl self,vader,tcp)
shim=(-x "LD_PRELOAD=$TREE/build/mpi/libpeerlane-mpi.so")
for name in "${!PEERLANE_@}"; do shim+=(-x "$name"); done

# plainly PROGRAM...: by MPI alone. with_group PROGRAM...
plainly() { timeout 300 "${mpirun_[@]}" "$@" >"$log" 2>&1; }
with_group() { timeout 300 "${mpirun_[@]}" "${shim[@]}" "$@" >"$log" 2>&1; }

# grouped: how many calls of rank 0 went through the group.
grouped() {
	sed -n 's/.*rank 0 of 4: by the group \(.*\), [0-9]* bytes; by MPI .*/\1/p' "$log" |
		tr ',' '\n' | awk '{ n += $1 } END { print n + 0 }'
}

exact() {
	local wanted
	with_group "$programs/exact" "$@" &&
		wanted=$(sed -n 's/for the group: \([0-9]*\) calls/\1/p' "$log") &&
		[ "${wanted:-0}" -gt 0 ] && [ "$(grouped)" -eq "$wanted" ]
	result $? "each function says what MPI says, and goes where it should${*:+, with }$*" "$log"
}

# verdicts: what hpcc says of its results, without times.
verdicts() {
	grep -oE 'PASSED|FAILED|Found [0-9]+ errors in [0-9]+ locations|Success=[0-9]|_Errors=[0-9]+|Solution Validates' \
		hpccoutf.txt
	rm -f hpccoutf.txt
}

# A program that knows nothing of any of this, small.
hpcc_() {
	cd /tmp/hpcc || return
	sed 's/^1000 .*Ns/64 Ns/' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
	plainly hpcc && verdicts >"$log.plain"
	result $? 'hpcc runs' "$log"
	with_group hpcc && verdicts >"$log.group"
	result $? 'hpcc runs with a group' "$log"
	echo "# $(grep 'by the group' "$log")"
	[ "$(grouped)" -gt 300 ]
	result $? 'most of its collectives went through the group' "$log"
	grep -q Success=1 "$log.group" && cmp "$log.plain" "$log.group"
	result $? 'its results are those without a group' "$log.group"
}

# In Python, with threads
hello() {
	with_group /usr/bin/python3 -m mpi4py.bench helloworld &&
		[ "$(grep -c 'I am process' "$log")" -eq 4 ] && [ "$(grouped)" -gt 0 ]
	result $? 'an example of mpi4py runs with a group' "$log"
	PEERLANE_MPI_VERBOSE=2 PEERLANE_SECRET=wrong with_group /usr/bin/python3 -m mpi4py.bench helloworld &&
		[ "$(grep -c 'I am process' "$log")" -eq 4 ] && grep -q 'all calls go to MPI: rank [0-9]: .*secret' "$log"
	result $? 'without a group all goes to MPI, and one line says why' "$log"
}

death() {
	local job rc before try
	before=$(grep -c '"formed"' "$events")
	with_group "$programs/endless" &
	job=$!
	for ((try = 0; try < 500; try++)); do
		[ "$(grep -c '"formed"' "$events")" -eq "$before" ] || break
		sleep 0.2
	done
	sleep 2
	kill -KILL "$aggregator"
	wait "$job"
	rc=$?
	[ "$rc" -ne 0 ] && [ "$rc" -ne 3 ] && [ "$rc" -ne 124 ]
	result $? 'without its aggregator a program ends' "$log"
	[ "$(grep -c 'was told: libpeerlane-mpi: MPI_Allreduce on rank [0-3]: .*aggregator' "$log")" -eq 4 ] &&
		! grep -q 'another error' "$log"
	result $? 'and each rank is told why, by an error of MPI' "$log"
}

start_all() {
	mkdir -p /tmp/hpcc
	[ "$NODE" -eq 1 ] || "$here/agent" --serve >/tmp/agent 2>&1 &
	[ "$NODE" -eq 1 ] || wait_for ready /tmp/agent
	[ "$NODE" -ne 1 ] || start_aggregator
	barrier mpi-ready 200
}

all() {
	local part
	for part in "$@"; do
		SECONDS=0
		"$part"
		echo "# $part: $SECONDS s"
	done
}

threads() { exact threads; }

declare -A here_are=([exact]=1 [threads]=1 [hello]=2 [hpcc_]=4 [death]=2)
# The last one ends the aggregator.
[ $# -gt 0 ] || set -- exact threads hello hpcc_ death
count=0
for part in "$@"; do count=$((count + here_are[$part])); done
[ "$NODE" -ne 1 ] || plan "$count"
start_all
[ "$NODE" -ne 1 ] || all "$@"
barrier mpi-done 1500
finish
