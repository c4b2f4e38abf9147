#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# host-cpu.sh RUNS [BYTES [TIMES]]: what the processors of the workers' nodes do for
# all-reduces of f32, by a group and by Open MPI in turn; a rank on each node but the
# last, which has the aggregator.  Node 1 prints "sample SERIES VALUE"; see run.
set -uo pipefail

aggregator_node=$NODES
# shellcheck source=transport.sh
. "${BASH_SOURCE[0]%/*}/transport.sh"

runs=$1
bytes=${2:-1048576}
times=${3:-8}
failed=0
mpi_patience=1200

measure() {
	local node address hosts=''
	for ((node = 1; node < NODES; node++)); do
		address=NODE_IP_$node
		hosts+=${hosts:+,}${!address}:1
	done
	on "$hosts" $((NODES - 1))
	echo "progress the processors of $((NODES - 1)) workers"
	if with_group "$programs/toil" "$bytes" "$times" "$runs" &&
		! grep 'go to MPI' "$log"; then
		grep '^sample ' "$log"
	else
		sed 's/^/! /' "$log"
		failed=1
	fi
}

start_all
if [ "$NODE" -eq 1 ]; then
	choose_transport
	measure
fi
barrier measured 3400
[ "$NODE" -ne "$aggregator_node" ] || kill "$aggregator"
exit "$failed"
