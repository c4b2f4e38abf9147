#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 --bar-size 64 --param aggregator=1 -- \
#	selftests/group/group_run.sh [siw] [NAME=VALUE...] TEST...
#
# Tests of groups on one node: ranks and aggregators in one kernel. siw: over
# software iWARP.
set -euo pipefail

if [ "$1" = siw ]; then
	shift
	rdma link delete rxe0
	rdma link add siw0 type siw netdev eth0
	export RDMA_DEV=siw0
fi
while [[ $1 == *=* ]]; do
	export "${1?}"
	shift
done
exec "$TREE/selftests/unit/run" "${@/#/"$TREE/build/selftests/group/"}"
