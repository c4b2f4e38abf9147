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

main() {
	bind_device || exit 1
	perftest_row ib_write_bw 65536 50 4 MB/s
	perftest_row ib_read_bw 65536 50 4 MB/s
	perftest_row ib_send_bw 65536 50 4 MB/s
	perftest_row ib_write_lat 8 100 5 us
	pattern_rows write:65536:bar+0:bar+4096 write:4097:bar+13:bar+2097133 \
		write:1:bar+5:bar+70001 write:1048576:bar+2097151:bar2+1000003
	step "taking the module out"
	return "$failed"
}

main
