# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the measurements of endpoints: "peerlane bench" between nodes 1 and 2, as
# perftest() of guest.sh runs perftest.  Sourced.

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

log=/tmp/bench.$NODE
export PEERLANE_SECRET="measured by $NODES nodes"

# Starting a program to look whether another one listens takes longer here.
wait_for_line() {
	local try line
	for ((try = 0; try < 600; try++)); do
		while read -r line; do
			[[ $line != *"$1"* ]] || return 0
		done <"$log"
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# What node 2 is started with, and its timeout
serve_options=()
bench_timeout=30000

# bench_wait, on node 2: until the other side has had enough.
bench_wait() {
	local server
	: >"$log"
	timeout 200 peerlane bench put -p "$perftest_port" --timeout "$bench_timeout" \
		"${serve_options[@]}" >"$log" 2>&1 &
	server=$!
	wait_for_line waiting "$server"
	barrier "bench-$perftest_port" 100
	wait "$server"
}

# bench_call TEST OPTION..., on node 1: leaves what was printed in $log.
bench_call() {
	# shellcheck disable=SC2153 # from the rig
	timeout 200 peerlane bench "$1" "$NODE_IP_2" -p "$perftest_port" \
		--timeout "$bench_timeout" -j "${@:2}" >"$log" 2>&1
}

# bench TEST OPTION...: called on both nodes; node 2 waits, node 1 connects.
bench() {
	perftest_port=$((perftest_port + 1))
	if [ "$NODE" -eq 2 ]; then
		bench_wait
		return
	fi
	barrier "bench-$perftest_port" 100 || return
	bench_call "$@"
}

# bench_figure EXPRESSION: of awk, over value["KEY"] of the only row.
bench_figure() {
	tr '{}[],' '\n' <"$log" | awk -F: '
		/^"[a-z0-9_]+":[0-9]+$/ { gsub(/"/, "", $1); value[$1] = $2 }
		END { printf "%.6f\n", ('"$1"') }'
}
