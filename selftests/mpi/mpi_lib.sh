# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# For scripts that run programs of MPI, usually two ranks on each of two nodes. Node 1
# has the aggregator, if $aggregator_node does not say another, and starts; the others
# do what mpirun asks for. Sourced.

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

here=$TREE/selftests/mpi
programs=$TREE/build/selftests/mpi
log=/tmp/mpi
events=/tmp/aggregator
export PEERLANE_SECRET="summed by $NODES nodes"
aggregator_node=${aggregator_node:-1}
declare -n aggregator_ip=NODE_IP_$aggregator_node
export PEERLANE_AGGREGATORS=$aggregator_ip
# Packets get lost on a busy machine, and programs start slowly.
export PEERLANE_MPI_TIMEOUT=30000 PEERLANE_MPI_JOIN_TIMEOUT=100000
export PEERLANE_MPI_VERBOSE=1

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
	peerlane aggregator --listen "$aggregator_ip" --memory 64m --timeout 30000 \
		--join-timeout 100000 -j >"$events" 2>"$events.err" &
	aggregator=$!
	wait_for '"listening"' "$events"
}

# on HOSTS N: as mpirun calls them, of programs that are run from here on.
on() {
	# shellcheck disable=SC2054 # the commas are mpirun's
	mpirun_=(mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$2" --host "$1"
		--mca plm_rsh_agent "$here/agent" --mca plm_rsh_no_tree_spawn 1
		--mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0
		"${transport[@]}")
}

# ranks N: half of them on each of two nodes
ranks() { on "$NODE_IP_1:$(($1 / 2)),$NODE_IP_2:$(($1 / 2))" "$1"; }

# How the ranks of MPI reach each other
# shellcheck disable=SC2054 # the commas are mpirun's
transport=(--mca pml ob1 --mca btl self,vader,tcp)
ranks 4

# with_variables COMMAND PROGRAM...: what the environment has for peerlane, too
with_variables() {
	local run=$1 name words=()
	shift
	for name in "${!PEERLANE_@}"; do words+=(-x "$name"); done
	"$run" -x "LD_PRELOAD=$TREE/build/mpi/libpeerlane-mpi.so" "${words[@]}" "$@"
}

# plainly PROGRAM...: by MPI alone. with_group PROGRAM...
plainly() { timeout "${mpi_patience:-300}" "${mpirun_[@]}" "$@" >"$log" 2>&1; }
with_group() { with_variables plainly "$@"; }

start_all() {
	[ "$NODE" -eq 1 ] || "$here/agent" --serve >/tmp/agent 2>&1 &
	[ "$NODE" -eq 1 ] || wait_for ready /tmp/agent
	[ "$NODE" -ne "$aggregator_node" ] || start_aggregator
	barrier mpi-ready 200
}
