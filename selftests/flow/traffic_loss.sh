#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --cpus 1 --host-hook selftests/flow/hook -- \
#	selftests/flow/traffic_loss.sh
#
# Real traffic, of which packets are lost, doubled, reordered and delayed: does
# the table say at both ends what captures there say?
set -uo pipefail

# shellcheck source=traffic.sh
. "${BASH_SOURCE[0]%/*}/traffic.sh"

# bench PROGRAM OPTION... LOG, and what is not answered is sent again soon.
soon() { bench "${@:1:$#-1}" -u 16 "${*: -1}"; }

# to_other QDISC...: node 1's packets only
to_other() { [ "$NODE" -eq 2 ] || leaving "$@"; }

mirror && peerlane flow observe local on || exit 1
plan 14
leaving netem limit 10000 delay 25ms
options=(--trips=30 --pairing=port)
traffic delay bench ib_write_lat -s 64 -n 60
leaving netem limit 10000
to_other netem limit 10000 loss 3%
options=(--need=retransmitted)
traffic lost-writes soon ib_write_bw -s 20000 -n 150
to_other netem limit 10000 loss 5%
options=()
[ "$NODE" -eq 1 ] || options=(--need=lost)
traffic uc-lost soon ib_write_bw -c UC -s 20000 -n 60
to_other netem limit 10000 duplicate 5%
options=()
[ "$NODE" -eq 1 ] || options=(--need=retransmitted)
traffic doubled soon ib_write_bw -s 20000 -n 60
options=(--late)
to_other netem limit 10000 delay 5ms reorder 95%
traffic reordered soon ib_write_bw -s 20000 -n 60
options=()
traffic uc-reordered soon ib_write_bw -c UC -s 20000 -n 60
leaving netem limit 10000 loss 3%
# Where the first of what is sent again is lost, the rest looks late.
options=(--late)
traffic lost-reads soon ib_read_bw -s 20000 -n 60
finish
