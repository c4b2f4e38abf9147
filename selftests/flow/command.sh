#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 -- selftests/flow/command.sh
#
# The command on real flows: perftest from node 1 to node 2, over a queue that
# marks packets. Node 1 sees what it sends, node 2 what arrives.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

cli=$TREE/selftests/cli
work=/tmp/flow.$NODE
mkdir -p "$work"
from=(src "$NODE_IP_1" dst "$NODE_IP_2")

# value KEY COMMAND...: of the only object that a JSON list has
value() {
	local key=$1
	shift
	peerlane -j "$@" | python3 -c 'import json, sys
(only,) = json.load(sys.stdin)
print(only[sys.argv[1]])' "$key"
}

flow_value() { value "$1" flow list "${from[@]}" transport rc top 1 by packets; }

# at_least NUMBER KEY
at_least() {
	local got
	got=$(flow_value "$2")
	echo "$2: $got"
	[ "$got" -ge "$1" ]
}

is() {
	local got
	got=$(flow_value "$2")
	echo "$2: $got, not $1"
	[ "$got" = "$1" ]
}

nothing_at_first() {
	peerlane flow list >"$work/out" 2>"$work/err" || return
	cat "$work/out" "$work/err"
	[ ! -s "$work/out" ] && grep -q 'peerlane flow observe local on' "$work/err"
}

observes_local() {
	peerlane flow observe local on && peerlane flow observe local on || return
	peerlane flow observe | tee "$work/points"
	grep -q local-out "$work/points" && grep -q local-in "$work/points"
}

shows_process() {
	local pid
	pid=$(flow_value pid)
	echo "pid: $pid"
	[ "$(<"/proc/$pid/comm")" = ib_write_bw ] &&
		[ "$(flow_value device)" = "$RDMA_DEV" ]
}

# The second interval has rates.
watches() {
	peerlane -j flow watch "${from[@]}" interval 1 count 2 >"$work/watch" || return
	python3 - "$work/watch" <<-'END'
		import json, sys
		first, second = [json.loads(line) for line in open(sys.argv[1])]
		assert first and first[0]["since"] is None, first
		flow = max(second, key=lambda flow: flow["packets"])
		assert flow["since"]["packets"] > 0 and flow["elapsed"] > 5e8, flow
	END
}

shows_histogram() {
	peerlane -h flow show "${from[@]}" top 1 by packets >"$work/show" || return
	cat "$work/show"
	grep -q '\.\..*%.*#' "$work/show"
}

# What the receiver answers is known, as it comes by the other way.
knows_answers() {
	[ "$(flow_value pairing)" != none ] || return
	at_least 1 reverse_packets
}

# A strict reader, and the sum of all rows.
metrics_are_valid() {
	peerlane metrics >"$work/metrics" || return
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$cli python3 - "$work/metrics" <<-'END'
		import sys
		import openmetrics
		metrics = openmetrics.parse(open(sys.argv[1]).read())
		packets = sum(metrics["peerlane_flow_packets"].values().values())
		total, = metrics["peerlane_packets"].values().values()
		print(packets, total)
		assert 0 < packets
		assert metrics["peerlane_scrape_error"].values("") and "peerlane_port_hw_tx_packets" in metrics
		assert not any(metrics["peerlane_scrape_error"].values("").values())
	END
}

serves_metrics() {
	local server rc
	peerlane metrics serve 127.0.0.1:9797 2>"$work/serve" &
	server=$!
	wait_listening 9797
	python3 -c 'import urllib.request as r
page = r.urlopen("http://127.0.0.1:9797/metrics", timeout=30).read().decode()
assert "peerlane_flow_packets_total{" in page, page'
	rc=$?
	kill "$server"
	wait "$server"
	return "$rc"
}

fills_screen() {
	{ sleep 4; printf q; } | TERM=xterm timeout 60 \
		script -qefc 'stty cols 200 rows 30; peerlane flow top interval 1' "$work/top" >/dev/null || return
	tr -d '\033' <"$work/top" | tail -n 30
	grep -aq "$NODE_IP_2" "$work/top" && grep -aq 'q quit' "$work/top"
}

labels() {
	peerlane flow label set 'job 7' pid "$(flow_value pid)" || return
	is 'job 7' label && peerlane flow list label 'job 7' | grep -q "$NODE_IP_2" || return
	peerlane flow label clear label 'job 7' && is None label
}

others_may_read_only() {
	setpriv --reuid 65534 --clear-groups peerlane flow list "${from[@]}" | grep -q "$NODE_IP_2" || return
	! setpriv --reuid 65534 --clear-groups peerlane flow reset 2>"$work/err" &&
		grep -q EPERM "$work/err"
}

other_namespace_is_empty() {
	unshare -n peerlane -j flow list >"$work/out" 2>/dev/null && grep -qx '\[\]' "$work/out"
}

sets_limits() {
	peerlane flow limit idle-timeout 300 threshold-on 1% threshold-off 0.1% &&
		[ "$(value idle_timeout flow limit)" = 300 ] &&
		[ "$(value threshold_on flow limit)" = 10000 ] &&
		! peerlane flow limit threshold-off 2%
}

# The values that it prints are those that there were.
resets() {
	local before
	before=$(flow_value packets)
	peerlane -j flow reset "${from[@]}" >"$work/reset" || return
	python3 -c 'import json, sys
assert int(sys.argv[1]) in [flow["packets"] for flow in json.load(sys.stdin)]' "$before" \
		<"$work/reset" && is 0 packets
}

tells_congestion() {
	wait "$events"
	cat "$work/events"
	python3 - "$work/events" <<-'END'
		import json, sys
		kinds = [json.loads(line)["kind"] for line in open(sys.argv[1])]
		assert "congestion-on" in kinds, kinds
		assert kinds.index("congestion-on") < len(kinds) - 1, kinds
	END
}

stops_observing() {
	peerlane flow observe local off && peerlane flow observe local off || return
	[ -z "$(peerlane flow observe)" ]
}

# Longer than all else takes on the slowest machine; ended by stop_traffic.
start_traffic() {
	local words=(nice -n 19 ib_write_bw -d "$RDMA_DEV" -x "$RDMA_GID" -F -u 18 -p 18600 -s 16384
		-D 500 --tclass=2)
	if [ "$NODE" -eq 2 ]; then
		"${words[@]}" >"$work/perftest" 2>&1 &
		job=$!
		wait_listening 18600
		barrier listening 120
	else
		tc qdisc add dev eth0 root netem limit 10000 loss 3% ecn
		barrier listening 120
		"${words[@]}" "$NODE_IP_2" >"$work/perftest" 2>&1 &
		job=$!
	fi
}

# Both nodes have looked by then.
stop_traffic() {
	barrier looked 300 || return
	kill -0 "$job" || return
	barrier there 60
	kill "$job"
	wait "$job"
	return 0
}

seen() { [ "$(flow_value packets)" -ge 100 ]; }

wait_for_flow() {
	local try
	for ((try = 0; try < 60; try++)); do
		! seen 2>/dev/null || return 0
		sleep 1
	done
	return 1
}

common() {
	check "the process is known" shows_process
	check "watch has rates" watches
	check "metrics are valid" metrics_are_valid
	check "metrics are served" serves_metrics
	check "top fills the screen" fills_screen
	check "labels" labels
	check "others may read, not reset" others_may_read_only
	check "another namespace has no flows" other_namespace_is_empty
	check "limits" sets_limits
}

sender() {
	check "both directions are paired" knows_answers
	check "show has a histogram" shows_histogram
}

receiver() {
	check "marked packets are counted" at_least 1 ce
	check "the flow is congested" is True congested
}

plan 17
check "nothing is observed at first" nothing_at_first
check "local packets are observed" observes_local
peerlane -j events timeout 500 count 2 >"$work/events" &
events=$!
start_traffic
wait_for_flow
common
peerlane -h flow list | sed 's/^/# /'
if [ "$NODE" -eq 1 ]; then sender; else receiver; fi
stop_traffic
result $? "perftest runs until it is ended" "$work/perftest"
check "reset" resets
if [ "$NODE" -eq 2 ]; then
	check "congestion that began and ended was told" tells_congestion
else
	kill "$events"
	wait "$events"
	result $? "a signal ends events well"
fi
check "observing ends" stops_observing
finish
