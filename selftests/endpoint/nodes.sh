#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --host-hook selftests/verbs/hook -- \
#	selftests/endpoint/nodes.sh [siw] [CASE...]
#
# Endpoints of two nodes. The last case cuts node 2's power. siw: over software
# iWARP.
set -uo pipefail

if [ "${1:-}" = siw ]; then
	shift
	rdma link delete rxe0
	rdma link add siw0 type siw netdev eth0
	export RDMA_DEV=siw0
fi
# What the network loses with a link that goes down is given back.
sysctl -qw net.ipv6.conf.eth0.keep_addr_on_down=1
ip address add "fd77::$NODE/64" dev eth0 nodad
export ADDRESS_6_2=fd77::2
barrier addresses 60
program=$TREE/build/selftests/endpoint/nodes
if [ "$NODE" -eq 2 ]; then
	exec "$program" "$@"
fi
exec "$program" -a "$NODE_IP_2" "$@"
