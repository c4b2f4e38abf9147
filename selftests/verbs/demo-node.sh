#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What selftests/demo runs on each of its two nodes.  Lines it looks for:
#	step TEXT		what is done now
#	row|TEST|SIZE|RESULT|ok	for the table
set -uo pipefail

# shellcheck source=guest.sh
. "${BASH_SOURCE[0]%/*}/guest.sh"

failed=0

step() { [ "$NODE" -ne 1 ] || echo "step $*"; }

# row TEST SIZE RESULT STATUS
row() {
	local word=ok
	[ "$4" -eq 0 ] || { word=FAILED; failed=1; }
	echo "row|$1|$2|$3|$word"
}

# From node 1 only: both nodes see the same run.
perftest_row() {
	local program=$1 size=$2 iterations=$3 column=$4 unit=$5 log=$OUT/$1 rc
	shift 5
	step "$program, $size bytes, from accelerator memory to accelerator memory"
	perftest "$log" "$program" -s "$size" -n "$iterations" --mmap=/dev/peerlane/gpu0
	rc=$?
	[ "$rc" -eq 0 ] || sed 's/^/! /' "$log"
	[ "$NODE" -eq 1 ] || { [ "$rc" -eq 0 ] || row "$program (node 2)" "$size" - "$rc"; return; }
	row "$program" "$size" "$(perftest_figure "$log" "$column") $unit" "$rc"
}

bind_device() {
	local pci
	pci=$(bar_functions | head -n 1)
	step "binding the BAR of $pci on each node: peerlane device bind"
	if ! peerlane device bind "$pci"; then
		row "device bind (node $NODE)" - - 1
		return 1
	fi
	peerlane device list | sed "s/^/node $NODE: /"
	[ -c /dev/peerlane/gpu0 ]
	row "bind and list (node $NODE)" 256M "$(lsmod | awk '$1 == "peerlane" { print "module " $2 " B" }')" $?
}

# pattern's TAP lines become rows.  What node 2 finds is what counts; node 1
# has the times.
pattern_rows() {
	local line name text status number=0
	step "RDMA WRITE of a pseudo-random pattern; the host compares what lies behind node 2's BAR"
	pattern -d -s "${SEED:-20250101}" "$@" >"$OUT/pattern"
	status=$?
	[ "$status" -eq 0 ] || { sed 's/^/! /' "$OUT/pattern"; row "pattern (node $NODE)" - - 1; }
	while read -r line; do
		[[ $line =~ ^(not )?ok\ [0-9]+\ -\ write:([0-9]+):(.*):\ (.*)$ ]] || continue
		name="write ${BASH_REMATCH[3]/:/ to }" text=${BASH_REMATCH[4]}
		[ "$NODE" -eq 2 ] || continue
		number=$((number + 1))
		case $text in
		detects*) name="$text" text='host said so' ;;
		arrived*) text='same bytes' ;;
		esac
		[ "${BASH_REMATCH[1]}" = "" ]
		row "$name" "${BASH_REMATCH[2]}" "$text" $?
	done <"$OUT/pattern"
	[ "$NODE" -eq 1 ] || [ "$number" -eq $(($# + 1)) ] || row "pattern" - "$number rows" 1
}

# flow_number KEY: of the flow that goes to node 2, from all flows as JSON
flow_number() {
	peerlane -j flow list dst "$NODE_IP_2" transport rc sort by retransmitted |
		tr '{' '\n' | sed -n "s/.*\"$1\":\([0-9]*\)[,}].*/\1/p" | head -n 1
}

# A lossy link on the way to node 2: which flow suffers, and how much?
flow_rows() {
	local dev log=$OUT/flows rc again
	step "2 % of node 1's packets get lost; peerlane flow list"
	dev=$(ip -o route get "$NODE_IP_2" | sed -n 's/.* dev \([^ ]*\).*/\1/p')
	[ "$NODE" -ne 1 ] || tc qdisc add dev "$dev" root netem loss 2%
	peerlane flow reset all >"$log.reset"
	perftest "$log" ib_write_bw -s 65536 -n 50
	rc=$?
	[ "$rc" -eq 0 ] || sed 's/^/! /' "$log"
	[ "$NODE" -eq 1 ] || return
	tc qdisc del dev "$dev" root
	peerlane flow list sort by retransmitted top 3 | sed "s/^/node $NODE: /"
	again=$(flow_number retransmitted)
	[ "$rc" -eq 0 ] && [ "${again:-0}" -gt 0 ]
	row "flow list names what was lost" 65536 "${again:-0} packets again" $?
}

main() {
	bind_device || exit 1
	peerlane flow observe local on
	perftest_row ib_write_bw 65536 50 4 MB/s
	perftest_row ib_read_bw 65536 50 4 MB/s
	perftest_row ib_send_bw 65536 50 4 MB/s
	perftest_row ib_write_lat 8 100 5 us
	pattern_rows write:65536:bar+0:bar+4096 write:4097:bar+13:bar+2097133 \
		write:1:bar+5:bar+70001 write:1048576:bar+2097151:bar2+1000003
	flow_rows
	step "taking the module out"
	return "$failed"
}

main
