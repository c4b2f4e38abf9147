#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --param aggregator=1 -- selftests/mpi/nodes.sh [PART...]
#
# Programs of MPI, two ranks on each of two nodes, whose collectives go through
# a group by libpeerlane-mpi.so. Node 1 has the aggregator, starts and judges;
# node 2 does what mpirun asks for.
set -uo pipefail

# shellcheck source=mpi_lib.sh
. "${BASH_SOURCE[0]%/*}/mpi_lib.sh"

# Small, so that there are pieces.
export PEERLANE_MPI_BUFFER=64k

# grouped: how many calls of rank 0 went through the group.
grouped() {
	sed -n 's/.*rank 0 of 4: by the group \(.*\), [0-9]* bytes; by MPI .*/\1/p' "$log" |
		tr ',' '\n' | awk '{ n += $1 } END { print n + 0 }'
}

one_line='^libpeerlane-mpi: rank [0-3] of 4: by the group .* bytes; by MPI [0-9]* calls$'

exact() {
	local wanted with=${*:+, with }$*
	PEERLANE_MPI_VERBOSE=2 with_group "$programs/exact" "$@" &&
		wanted=$(sed -n 's/for the group: \([0-9]*\) calls/\1/p' "$log") &&
		[ "${wanted:-0}" -gt 0 ] && [ "$(grouped)" -eq "$wanted" ]
	result $? "each function says what MPI says, and goes where it should$with" "$log"
	[ "$(grep -c "$one_line" "$log")" -eq 4 ]
	result $? "each rank says on one line how it went$with" "$log"
}

# grid N: N x N points as a graph of Scotch's.
grid() {
	awk -v n="$1" 'BEGIN {
		printf "0\n%d %d\n0 000\n", n * n, 4 * n * (n - 1)
		for (v = 0; v < n * n; v++) {
			degree = 0; near = ""
			if (v % n) { degree++; near = near " " v - 1 }
			if (v % n < n - 1) { degree++; near = near " " v + 1 }
			if (v >= n) { degree++; near = near " " v - n }
			if (v < n * (n - 1)) { degree++; near = near " " v + n }
			print degree near
		}
	}'
}

# scotch PROGRAM WORD...: what it writes is the same with a group and without.
scotch() {
	local name=$1
	plainly "$@" /tmp/plain
	result $? "$name of PT-Scotch runs" "$log"
	with_group "$@" /tmp/group && [ -s /tmp/group ] && cmp /tmp/plain /tmp/group
	result $? "with a group it says the same" "$log"
	echo "# $(grep 'by the group' "$log")"
	[ "$(grouped)" -ge 5 ]
	result $? 'and called for the group' "$log"
}

# Programs that know nothing of any of this. Not dgpart: what it makes of a graph
# depends on which message comes first.
scotches() {
	grid 24 >/tmp/grid
	scotch dgord /tmp/grid
	scotch dgtst /tmp/grid
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

# told CASE WORDS: a call that is wrong is an error at each rank, and one has WORDS.
told() {
	with_group "$programs/wrong" "$1" &&
		[ "$(grep -c 'was told: libpeerlane-mpi: ' "$log")" -eq 4 ] && grep -q "was told: .*$2" "$log"
	result $? "each rank is told of an error: $1" "$log"
	echo "# $(grep -m 1 "was told: .*$2" "$log")"
}

wrong() {
	told not-committed 'MPI_Bcast on rank 0: data cannot be packed: MPI_ERR_TYPE'
	told in-place 'MPI_Reduce on rank 3: MPI_IN_PLACE is for the root only'
	told of-gpu 'MPI_Allreduce on rank 3: the data is in the memory of a GPU'
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
	echo "# $(grep -m 1 'was told' "$log")"
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

declare -A here_are=([exact]=2 [threads]=2 [hello]=2 [scotches]=6 [wrong]=3 [death]=2)
# The last one ends the aggregator.
[ $# -gt 0 ] || set -- exact threads hello scotches wrong death
count=0
for part in "$@"; do count=$((count + here_are[$part])); done
[ "$NODE" -ne 1 ] || plan "$count"
start_all
[ "$NODE" -ne 1 ] || all "$@"
barrier mpi-done 1500
finish
