# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the scripts that run on a node: TAP, perftest between nodes 1 and 2, our
# own programs.  Sourced.

tools=$TREE/build/selftests/verbs
tap_number=0
tap_failed=0
perftest_port=18520

plan() {
	echo "1..$1"
	tap_number=0
}

# result STATUS NAME [LOG]: one TAP line, and the log where it helps.
result() {
	tap_number=$((tap_number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_number - $2"
		return
	fi
	[ -z "${3:-}" ] || sed 's/^/# /' "$3"
	echo "not ok $tap_number - $2"
	tap_failed=1
}

# check NAME COMMAND...: its output is shown only when it fails.
check() {
	local name=$1
	shift
	"$@" >"/tmp/check.$NODE" 2>&1
	result $? "$name" "/tmp/check.$NODE"
}

finish() { exit "$tap_failed"; }

# Programs are made by the host, which has a compiler at full speed.
build_programs() {
	[ "$NODE" -ne 1 ] || host hook-build
	[ "$NODES" -eq 1 ] || barrier programs 90
}

is_listening() {
	local port line
	printf -v port ':%04X' "$1"
	while read -r _ line _; do
		[[ $line != *"$port" ]] || return 0
	done < <(cat /proc/net/tcp /proc/net/tcp6)
	return 1
}

wait_listening() {
	local try
	for ((try = 0; try < 200; try++)); do
		! is_listening "$1" || return 0
		sleep 0.1
	done
	echo "nobody listens on port $1" >&2
	return 1
}

# perftest LOG PROGRAM OPTION...: called on both nodes; node 2 serves.  A
# packet may get lost on a busy machine, hence a long timeout for answers.
perftest() {
	local log=$1 program=$2 server rc
	shift 2
	perftest_port=$((perftest_port + 1))
	set -- timeout 100 "$program" -d "$RDMA_DEV" -x "$RDMA_GID" -F -u 18 \
		-p "$perftest_port" "$@"
	if [ "$NODE" -eq 2 ]; then
		"$@" >"$log" 2>&1 &
		server=$!
		wait_listening "$perftest_port"
		barrier "perftest-$perftest_port" 60
		wait "$server"
		return
	fi
	barrier "perftest-$perftest_port" 60 || return
	# shellcheck disable=SC2153 # from the rig
	"$@" "$NODE_IP_2" >"$log" 2>&1
	rc=$?
	return "$rc"
}

# perftest_figure LOG COLUMN: of the only row of numbers.
perftest_figure() {
	awk -v c="$2" '$1 ~ /^[0-9]+$/ && NF >= 4 { print $c }' "$1" | tail -n 1
}

# pattern OPTION... CASE...: our program, on both nodes; node 1 calls node 2.
pattern() {
	if [ "$NODE" -eq 2 ]; then
		timeout 200 "$tools/pattern" "$@"
	else
		timeout 200 "$tools/pattern" -a "$NODE_IP_2" "$@"
	fi
}

# bar_functions: PCI addresses of the rig's BAR devices.
bar_functions() {
	local dev
	for dev in /sys/bus/pci/devices/*; do
		[ "$(<"$dev/vendor"):$(<"$dev/device")" != 0x1af4:0x1110 ] || echo "${dev##*/}"
	done
}
