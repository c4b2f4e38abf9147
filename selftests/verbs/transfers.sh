#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --host-hook selftests/verbs/hook -- \
#	selftests/verbs/transfers.sh
#
# perftest as Debian has it, between the BARs of two nodes, and each kind of
# RDMA operation with its data looked at from outside.
set -uo pipefail

# shellcheck source=guest.sh
. "${BASH_SOURCE[0]%/*}/guest.sh"

# pid and length of the region that a program opened
region_of() {
	peerlane -j region list | tr '{' '\n' | grep "\"comm\": *\"$1\"" |
		sed -n 's/.*"length": *\([0-9]*\).*"pid": *\([0-9]*\).*/\2 \1/p' | head -n 1
}

# shows_while_it_runs NAME JOB LOG
shows_while_it_runs() {
	local pid='' length=''
	while kill -0 "$2" 2>/dev/null; do
		read -r pid length < <(region_of "$1") && break
		sleep 0.2
	done
	echo "region list: pid ${pid:-none}, ${length:-no} bytes" >>"$3"
	[ -n "$pid" ] && [ "$(<"/proc/$pid/comm")" = "$1" ] && [ "$length" -ge 65536 ]
}

region_list_is_empty() {
	local try
	for ((try = 0; try < 30; try++)); do
		[ -n "$(region_of "$1")" ] || return 0
		sleep 0.3
	done
	return 1
}

test_perftest() {
	local program log=/tmp/perftest.$NODE
	for program in ib_write_bw ib_read_bw ib_send_bw; do
		perftest "$log" "$program" -s 65536 -n 20 --mmap=/dev/peerlane/gpu0
		result $? "$program between BARs" "$log"
	done
	perftest "$log" ib_write_lat -s 8 -n 20 --mmap=/dev/peerlane/gpu0
	result $? "ib_write_lat between BARs" "$log"
}

test_region_list() {
	local log=/tmp/list.$NODE job
	perftest "$log" ib_write_bw -s 65536 -D 15 --mmap=/dev/peerlane/gpu0 &
	job=$!
	shows_while_it_runs ib_write_bw "$job" "$log.list"
	result $? "region list shows the process while it runs" "$log.list"
	wait "$job"
	result $? "and it is not disturbed" "$log"
	region_list_is_empty ib_write_bw
	result $? "nothing is left when it has ended"
}

cases=(
	# first the plain one: it also shows that a wrong byte is seen
	write:65536:bar+0:bar+4096
	# odd offsets and lengths, MRs of just these bytes
	write:1:bar+5:bar+70001
	write:4097:bar+13:bar+2097133
	# the whole region of 64 MiB in one MR
	write:262144:bar+4096@whole:bar+66000000@whole
	# many MRs of the same bytes
	write:5000:bar+1000@many:bar+2097100@many
	# two regions in one process
	write:40000:bar2+77:bar+99999
	write:40000:bar+77:bar2+99999
	# host memory and BAR
	write:30000:host+33:bar+12345
	write:30000:bar+33:host+12345
	# the other operations
	write_imm:8191:bar+1:bar+8193
	send:16384:bar+100:bar+1000001
	send:7777:host+1:bar+100
	send:7777:bar+1:host+100
	read:65536:bar+4096:bar+64
	read:4097:bar+2097133:bar+131
	read:30000:bar+9:host+12345
	read:30000:host+9:bar+12345
	fetch_add:8:host+0:bar+4096
	fetch_add:8:bar+64:bar+2097144
	cmp_swap:8:host+0:bar+8192
	cmp_swap:8:bar+128:bar+2097152
)

build_programs || exit 1
plan 7
test_perftest
test_region_list
pattern -d -l $((64 << 20)) "${cases[@]}" || tap_failed=1
finish
