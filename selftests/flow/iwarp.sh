#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --kernel lab --nodes 2 -- selftests/flow/iwarp.sh
#
# Software iWARP between two nodes, as "peerlane flow tcp" tells of it.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

own=$NODE_IP_1 peer=$NODE_IP_2
[ "$NODE" -eq 1 ] || own=$NODE_IP_2 peer=$NODE_IP_1

# holds CONDITION: it is true of the one connection, which is "c" in Python.
holds() {
	peerlane -j flow tcp | tee /dev/stderr | python3 -c 'import json, sys
(c,) = json.load(sys.stdin)
sys.exit(not eval(sys.argv[1]))' "$1"
}

no_connection() { [ "$(peerlane -j flow tcp)" = '[]' ]; }

# The client begins when the server listens, and goes on until it is stopped.
start() {
	if [ "$NODE" -eq 2 ]; then
		rping -s -a "$NODE_IP_2" -p 18900 -S 4000 >"/tmp/rping.$NODE" 2>&1 &
		sleep 3
		barrier listening 60
	else
		barrier listening 60
		rping -c -a "$NODE_IP_2" -p 18900 -C 100000 -S 4000 >"/tmp/rping.$NODE" 2>&1 &
	fi
	rping_pid=$!
	local try
	for ((try = 0; try < 100; try++)); do
		no_connection || break
		sleep 0.1
	done
	sleep 1
	! no_connection
}

is_what_ss_has() {
	local ports
	ports=$(peerlane -j flow tcp | python3 -c 'import json, sys
(c,) = json.load(sys.stdin)
print("{saddr}:{sport} {daddr}:{dport}".format(**c))')
	echo "$ports"
	ss -Htn | tee /dev/stderr | awk '{ print $4, $5 }' | grep -qxF "$ports"
}

moves_on() {
	local before
	before=$(peerlane -j flow tcp | python3 -c 'import json, sys
print(json.load(sys.stdin)[0]["bytes_acked"])')
	sleep 2
	holds "c['bytes_acked'] > $before"
}

rdma link delete rxe0
rdma link add siw0 type siw netdev eth0
plan 9
check "nothing without a connection" no_connection
barrier begin 60
check "rping runs" start
check "one connection, of siw0" holds "c['device'] == 'siw0'"
check "its ends" holds "(c['saddr'], c['daddr']) == ('$own', '$peer')"
check "its process" holds "(c['comm'], c['pid']) == ('rping', $rping_pid)"
check "as ss has it" is_what_ss_has
check "TCP's numbers" holds \
	"c['state'] == 1 and c['srtt'] > 0 and c['min_rtt'] > 0 and c['delivered'] > 0"
check "they grow" moves_on
barrier looked 60
kill "$rping_pid"
wait "$rping_pid"
barrier ended 60
check "nothing after it" no_connection
finish
