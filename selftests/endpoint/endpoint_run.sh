#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 --bar-size 64 -- \
#	selftests/endpoint/endpoint_run.sh [siw] TEST...
#
# Tests of endpoints on one node, which calls itself. siw: over software iWARP.
set -euo pipefail

if [ "$1" = siw ]; then
	shift
	rdma link delete rxe0
	rdma link add siw0 type siw netdev eth0
	export RDMA_DEV=siw0
fi
ip address add fd77::1/64 dev eth0 nodad
export ADDRESS_6=fd77::1
exec "$TREE/selftests/unit/run" "${@/#/"$TREE/build/selftests/endpoint/"}"
