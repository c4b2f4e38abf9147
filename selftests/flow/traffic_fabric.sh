#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/lab/run --topo selftests/flow/mirror_topo.py --rate 16 --ecn \
#	--host-hook selftests/flow/hook -- selftests/flow/traffic_fabric.sh
#
# RDMA through a fabric that marks and loses packets behind the switch that
# mirrors them, plain and with one and two VLAN tags, to node 3.
set -uo pipefail

# shellcheck source=traffic.sh
. "${BASH_SOURCE[0]%/*}/traffic.sh"

# mirror_to DEVICE: of leaf1, both directions of node 1's port
mirror_to() {
	lab exec leaf1 -- tc qdisc replace dev node1 clsact
	lab exec leaf1 -- tc filter del dev node1 ingress
	lab exec leaf1 -- tc filter del dev node1 egress
	lab exec leaf1 -- tc filter add dev node1 ingress matchall action mirred egress mirror dev "$1" &&
		lab exec leaf1 -- tc filter add dev node1 egress matchall action mirred egress mirror dev "$1"
}

# tag PORT NAME PROTOCOL
tag() {
	lab exec leaf1 -- ip link add link "$1" name "$2" type vlan proto "$3" id 5 &&
		lab exec leaf1 -- ip link set "$2" up
}

observe() {
	peerlane flow observe local on || return
	[ "$NODE" -eq 1 ] || peerlane flow observe dev eth0 on
}

# Of node 3's doing, before the others go on
switch() {
	[ "$NODE" -ne 3 ] || "$@" || exit 1
	barrier "switch-$*" 60
}

mirror && observe || exit 1
plan 8
case $NODE in
2) once=--stat=elsewhere=received ;;
*) once=--stat=elsewhere=0 ;;
esac
[ "$NODE" -ne 3 ] || echo "mirrors: $(lab exec leaf1 -- ip -br link | tr '\n' ' ')"

switch mirror_to node3
options=("$once" --need=packets)
traffic plain bench ib_read_bw -s 20000 -n 40

switch lab set 'leaf2>node2' rate 4
switch tag node3 tag3 802.1q
switch mirror_to tag3
options=("$once" --need=ect)
[ "$NODE" -ne 2 ] || options+=(--need=ce)
traffic marked bench ib_write_bw --tclass=2 -s 40000 -n 60

switch lab set 'leaf2>node2' loss 3
switch tag node3 outer3 802.1ad
switch tag outer3 inner3 802.1q
switch mirror_to inner3
options=("$once" --need=retransmitted)
traffic lost bench ib_write_bw -s 20000 -n 60 -u 16

switch lab set 'leaf2>node2' loss 0
options=("$once" --pairing=cm)
traffic managed ping_rdma -C 10 -S 3000
finish
