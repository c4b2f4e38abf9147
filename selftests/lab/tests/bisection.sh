#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bisection.sh [watch=LINK] [spread=GLOB] STEP...: measures what fits across the
# cluster, and compares it with what `lab cut` says.  A STEP is
#
#	across, inside, cross	measure with that pattern of senders and receivers
#	ecn			across, with packets that may be marked
#	down:DEVICE, set:LINK:WORD:VALUE	change the cluster for the steps that follow
#
# Afterwards node 1 prints the table and the results; see bisection.py.  spread:
# the directions of links, a>b, that must share the load of the first step;
# watch: a link whose marks are counted.
set -uo pipefail

here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=../guest/lab.sh
. "$here/../guest/lab.sh"

stream=$TREE/build/selftests/lab/stream
seconds=6
# Until queues are as long as they get.
warmup=3
# Of each measurement. A shaper lets nothing more through than it should, but a
# busy machine may not have sent that much.
tries=3
step=0
failed=0

folders=()
half=$((NODES / 2))
read -ra devices <<<"$RDMA_DEVS"
read -ra gids <<<"$RDMA_GIDS"
rails=${#devices[@]}

# With many nodes, each program that each of them starts takes a second.
barrier() { lab_call 210 barrier "$1" 180; }

exec {nap}<> <(:)
doze() { read -rt 0.1 -u "$nap" || true; }

address() {
	local name=NODE_IP_$1_$2
	echo "${!name}"
}

# plan_of PATTERN: what this node does, in goals (nodes to send to) and callers.
plan_of() {
	local k
	goals=() callers=0
	case $1 in
	inside)
		if [ $((NODE % 2)) -eq 1 ]; then goals=($((NODE + 1))); else callers=1; fi
		;;
	*)
		if [ "$NODE" -gt "$half" ]; then
			callers=$half
		else
			# Each begins with another one, so that nobody has to stand in line.
			for ((k = 0; k < half; k++)); do
				goals+=($((half + 1 + (NODE + k) % half)))
			done
		fi
		;;
	esac
}

# start_rail PATTERN RAIL OPTION...: a caller waits for a word on one of gos.
start_rail() {
	local pattern=$1 rail=$2 there=$2 k qps addresses=()
	shift 2
	export RDMA_DEV=${devices[rail - 1]} RDMA_GID=${gids[rail - 1]}
	[ "$pattern" != cross ] || there=$((rail % rails + 1))
	if [ "$callers" -gt 0 ]; then
		"$stream" -b "$(address "$NODE" "$rail")" serve "$callers" &
		jobs_started+=($!)
		return
	fi
	for k in "${goals[@]}"; do addresses+=("$(address "$k" "$there")"); done
	# 16 in all, or more: few would leave paths idle to which the hash sent none.
	qps=$(((16 + ${#addresses[@]} - 1) / ${#addresses[@]}))
	exec {go}<> <(:)
	"$stream" "$@" -q "$qps" -t "$seconds" -w "$warmup" call "${addresses[@]}" \
		<&"$go" >"$folder/said.$NODE.$rail" &
	jobs_started+=($!)
	gos+=("$go")
}

wait_ready() {
	local rail try
	for ((rail = 1; rail <= rails; rail++)); do
		for ((try = 0; try < 600; try++)); do
			[ ! -s "$folder/said.$NODE.$rail" ] || break
			doze
		done
	done
}

counters() {
	[ "$NODE" -eq 1 ] || return 0
	lab counters >"$folder/links.$1"
	[ -z "${watch:-}" ] || lab counters "$watch" >"$folder/marks.$1"
}

# measure_once TRY LABEL PATTERN OPTION...
measure_once() {
	local try=$1 label=$2 pattern=$3 rail go job gos=() jobs_started=()
	shift 3
	rm -f "$folder/said.$NODE".*
	plan_of "$pattern"
	if [ "$NODE" -eq 1 ]; then
		echo "$label" >"$folder/label"
		lab cut "$pattern" >"$folder/cut"
	fi
	for ((rail = 1; rail <= rails; rail++)); do start_rail "$pattern" "$rail" "$@"; done
	[ "$callers" -gt 0 ] || wait_ready
	counters before
	barrier "ready-$step-$try" || failed=1
	for go in "${gos[@]}"; do
		echo go >&"$go"
		exec {go}>&-
	done
	for job in "${jobs_started[@]}"; do wait "$job" || failed=1; done
	counters after
	barrier "done-$step-$try" || failed=1
}

# judge: node 1 says whether this one has to be measured again.
judge() {
	if python3 "$here/bisection.py" --enough "$folder"; then
		rm -f "$folder/again"
	else
		touch "$folder/again"
	fi
}

# measure LABEL PATTERN OPTION...: called on all nodes at once.
measure() {
	local try
	step=$((step + 1))
	folder=$LAB_SHARED/$step
	for ((try = 1; try <= tries; try++)); do
		measure_once "$try" "$@"
		[ "$NODE" -ne 1 ] || judge
		barrier "judged-$step-$try" || failed=1
		[ -e "$folder/again" ] || break
	done
}

change() {
	local words
	IFS=: read -ra words <<<"$1"
	changes="${changes:+$changes, }${words[*]}"
	[ "$NODE" -ne 1 ] || lab "${words[@]}" || failed=1
	barrier "change-$1" || failed=1
}

if [ "$NODE" -eq 1 ]; then
	for ((k = 1; k <= $#; k++)); do folders+=("$LAB_SHARED/$k"); done
	mkdir "${folders[@]}"
fi
barrier begin || exit 1
# shellcheck disable=SC2034 # watch and spread are read by name
for word; do
	case $word in
	watch=*) watch=${word#*=} ;;
	spread=*) spread=${word#*=} ;;
	ecn) measure "across, ECN${changes:+, $changes}" across -c 2 ;;
	across | inside | cross) measure "$word${changes:+, $changes}" "$word" ;;
	*) change "$word" ;;
	esac
done
if [ "$NODE" -eq 1 ]; then
	python3 "$here/bisection.py" "$LAB_SHARED" "${spread:-}" || failed=1
fi
barrier end || failed=1
exit "$failed"
