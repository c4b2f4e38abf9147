#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 3 --cpus 1 --host-hook selftests/flow/hook -- \
#	selftests/flow/traffic_mirror.sh
#
# Node 3 sees on its network device what passes between nodes 1 and 2, as at the
# mirror port of a switch.  Nodes 2 and 3 observe both software RDMA and a device:
# nothing may be counted twice.
set -uo pipefail

# shellcheck source=traffic.sh
. "${BASH_SOURCE[0]%/*}/traffic.sh"

inject() { [ "$NODE" -ne 1 ] || "${BASH_SOURCE[0]%/*}/inject" "$1" eth0 >"${*: -1}" 2>&1; }

observe() {
	peerlane flow observe local on || return
	[ "$NODE" -eq 1 ] || peerlane flow observe dev eth0 on || return
	[ "$NODE" -ne 3 ] || ip link set eth0 promisc on
}

mirror && observe || exit 1
plan $((NODE == 3 ? 8 : 6))
# What comes in at node 2 is seen at eth0 first, and then at LOCAL_IN.
options=(--need=packets)
case $NODE in
1) options+=(--stat=elsewhere=0) ;;
2) options+=(--stat=elsewhere=received) ;;
3) options+=(--stat=elsewhere=0) ;;
esac
[ "$NODE" -ne 1 ] || leaving netem limit 10000 loss 3%
traffic writes bench ib_write_bw -s 20000 -n 60 -u 16
leaving pfifo limit 10000
traffic reads bench ib_read_bw -s 9000 -n 30

# Frames to nobody, which only node 3 takes
lookers=3
options=(--need=cnp --need=fecn --need=becn --need=ce --need=nak_sequence --stat=elsewhere=0)
traffic injected inject good
read -ra counts < <("${BASH_SOURCE[0]%/*}/inject" counts)
options=(--no-flow --stat=packets=0 "${counts[@]}")
traffic bad inject bad
finish
