#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind -- selftests/endpoint/command.sh [PART...]
#
# peerlane bench and peerlane endpoint between two nodes: node 2 waits, node 1
# connects, says what is done, and judges.
set -uo pipefail

# shellcheck source=../bench/endpoint_lib.sh
. "${BASH_SOURCE[0]%/*}/../bench/endpoint_lib.sh"

# checked NAME SERVER-OPTIONS OPTION...: no byte is wrong.
checked() {
	local name=$1 rc
	read -ra serve_options <<<"$2"
	shift 2
	bench "$@" --check
	rc=$?
	[ "$NODE" -eq 1 ] || return
	[ "$rc" -eq 0 ] && [ "$(bench_figure 'value["wrong_bytes"] + (value["ops"] < 20)')" = 0.000000 ]
	result $? "$name" "$log"
}

data() {
	checked 'put, host memory' '' put -s 8,5000,64k -n 20
	checked 'get, host memory' '' get -s 8,5000,64k -n 20
	checked 'put from BAR to BAR' '--device gpu0' put -s 64k -n 20 --device gpu0
	checked 'get from BAR into host memory' '--device gpu0' get -s 64k -n 20
	checked 'put both ways' '' put -s 4k -n 20 -b --flush
	checked 'put by four lanes' '' put -s 4k -n 40 -q 4 -l 8
	checked 'put, few told' '' put -s 4k -n 40 -t 16 --quiet 8
	checked 'get by four lanes' '--device gpu0' get -s 4k -n 40 -q 4 -l 8
	checked 'there and back' '' lat -n 30
	checked 'there and back, waiting actively' '' lat -n 30 --busy-poll
	checked 'there and flushed' '--device gpu0' lat -n 30 --flush --device gpu0
	checked 'there and back, between BARs' '--device gpu0' lat -n 30 --device gpu0
	serve_options=()
}

# meanwhile COMMAND...: while node 1 puts for long; what it is left with is in
# $rc, what it printed in $log.
meanwhile() {
	local job
	if [ "$NODE" -eq 2 ]; then
		bench
		return
	fi
	bench put -s 4k -D 60 &
	job=$!
	perftest_port=$((perftest_port + 1))
	"$@"
	wait "$job"
	rc=$?
}

wait_connected() {
	local try
	for ((try = 0; try < 100; try++)); do
		peerlane -j endpoint list state connected >"$log.list"
		! grep -q '"granted":2' "$log.list" || return 0
		sleep 0.3
	done
	return 1
}

look_and_interrupt() {
	wait_connected
	result $? 'endpoint list shows the connection' "$log.list"
	peerlane endpoint show >"$log.show"
	grep -q '^label *peerlane bench$' "$log.show" && grep -q "^peer *$NODE_IP_2:" "$log.show"
	result $? 'endpoint show says with whom' "$log.show"
	sleep 2
	kill -INT "$(pidof -s peerlane)"
}

kill_here() {
	wait_connected
	kill -KILL "$(pidof -s peerlane)"
}

ends() {
	meanwhile look_and_interrupt
	if [ "$NODE" -eq 1 ]; then
		[ "$rc" -eq 3 ] && [ "$(bench_figure 'value["ops"] > 0')" = 1.000000 ]
		result $? 'an interrupt prints what there is' "$log"
	fi
	meanwhile kill_here
	if [ "$NODE" -eq 2 ]; then
		grep -q '(ECONNRESET)' "$log"
		result $? 'who is killed has closed the connection' "$log"
	fi
}

strangers() {
	perftest_port=$((perftest_port + 1))
	if [ "$NODE" -eq 2 ]; then
		bench_wait
		return
	fi
	barrier "bench-$perftest_port" 100
	PEERLANE_SECRET=wrong bench_call put -n 1
	grep -q 'secret.*(ECONNREFUSED)' "$log"
	result $? 'another secret is refused' "$log"
	bench_call put -n 1
	result $? 'and the right one is not' "$log"
	bench_call put -n 1
	grep -q '(ECONNREFUSED)' "$log"
	result $? 'nobody listens any more' "$log"
}

nothing_left() {
	[ "$NODE" -eq 1 ] || return
	[ "$(peerlane -j endpoint list)" = '[]' ]
	result $? 'nothing is left'
}

# How many results node 1 and node 2 have of each
declare -A here=([data]=12 [ends]=3 [strangers]=3 [nothing_left]=1)
declare -A there=([ends]=1)
[ $# -gt 0 ] || set -- data ends strangers nothing_left
count=0
for part in "$@"; do
	if [ "$NODE" -eq 1 ]; then
		count=$((count + here[$part]))
	else
		count=$((count + ${there[$part]:-0}))
	fi
done
[ "$count" -eq 0 ] || plan "$count"
for part in "$@"; do "$part"; done
finish
