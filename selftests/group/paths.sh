#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --nodes 2 --bind --param aggregator=1 -- selftests/group/paths.sh [PART...]
#
# Lanes that fail, and lanes that are slow. Node 1 has the aggregator and rank 0,
# node 2 has ranks 1 and 2, and judges. Rank 1's lanes are what is disturbed: packets
# to one queue pair.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

paths=$TREE/build/selftests/group/paths
port=18517
number=0

modprobe -aq nf_tables nft_compat sch_netem sch_prio cls_u32

# ---- what is dropped ------------------------------------------------------------

nft -f - <<-END
	table inet paths {
		chain in { type filter hook input priority 0; }
	}
END

# Node 1 drops by the word of node 2: what is for one of its queue pairs and then for
# another, or "none".
serve() {
	python3 -c '
import socket, subprocess
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 9999))
while True:
    word, peer = server.recvfrom(64)
    word = word.decode()
    if word == "none":
        rule = ["flush", "chain", "inet", "paths", "in"]
    else:
        rule = ["add", "rule", "inet", "paths", "in", "udp", "dport", "4791",
                "@th,104,24", word, "counter", "drop"]
    server.sendto(b"%d" % subprocess.call(["nft", *rule]), peer)
'
}

# tell WORD: node 1 has done it.
tell() {
	python3 -c '
import socket, sys
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(20)
client.sendto(sys.argv[2].encode(), (sys.argv[1], 9999))
sys.exit(int(client.recv(16)))' "$NODE_IP_1" "$1"
}

# ---- lanes of rank 1, whose file is the first of node 2 -------------------------

# field LANE N: of rank 1's lane.
field() { "$paths" lanes | awk -v f="$file" -v l="$1" -v n="$2" '$1 == f && $3 == l { print $n }'; }
qpn() { field "$1" 5; }
# peer_qpn LANE: of the aggregator's queue pair.
peer_qpn() {
	rdma resource show qp lqpn "$(qpn "$1")" | sed -n 's/.* rqpn \([0-9]*\) .*/\1/p'
}
messages() { field "$1" 6; }
in_state() { "$paths" lanes | awk -v f="$file" -v s="$1" '$1 == f && $4 == s' | wc -l; }

# wait_left COUNT: until so many were left.
wait_left() {
	local until=$((SECONDS + 40))
	while [ "$SECONDS" -lt "$until" ]; do
		[ "$(in_state 3)" -lt "$1" ] || return 0
		sleep 0.5
	done
	"$paths" lanes
	return 1
}

# total: messages of rank 1, by all lanes.
total() { "$paths" lanes | awk -v f="$file" '$1 == f { sum += $6 } END { print sum + 0 }'; }

# goes_on: more is sent, soon.
goes_on() {
	local before until=$((SECONDS + 20))
	before=$(total)
	while [ "$SECONDS" -lt "$until" ]; do
		[ "$(total)" -le $((before + 100)) ] || return 0
		sleep 0.5
	done
	return 1
}

# ---- a group --------------------------------------------------------------------

rank() { exec "$paths" "$1" 3 "$NODE_IP_1" "$port" "$number" 4; }

start() {
	number=$((number + 1))
	rm -f /tmp/stop.*
	barrier "begin-$number" 200
	if [ "$NODE" -eq 1 ]; then
		(rank 0 >/tmp/rank.0 2>&1) &
		jobs=($!)
		return
	fi
	(rank 1 >/tmp/rank.1 2>&1) &
	jobs=($!)
	local try
	for ((try = 0; try < 300; try++)); do
		file=$("$paths" lanes | head -n 1 | cut -d' ' -f1)
		[ -z "$file" ] || break
		sleep 0.1
	done
	(rank 2 >/tmp/rank.2 2>&1) &
	jobs+=($!)
	sleep 2
}

# finish_ranks: all, which end by themselves or because one wants to.
finish_ranks() {
	local job rc=0
	for job in "${jobs[@]}"; do wait "$job" || rc=1; done
	return "$rc"
}

# as_rank_0: node 1's part of what node 2 does.
as_rank_0() {
	finish_ranks
	echo "# $(tail -n 1 /tmp/rank.0)"
	barrier "end-$number" 300
}

# stop NAME: all have ended well, with the right bits, and nothing came twice.
stop() {
	local rc
	touch /tmp/stop.1
	finish_ranks
	rc=$?
	cat /tmp/rank.1 /tmp/rank.2 | sed 's/^/# /'
	result "$rc" "$1"
	barrier "end-$number" 300
}

# ---- parts ----------------------------------------------------------------------

# Results arrive, of which node 1's device never learns.
unheard() {
	local listener
	[ "$NODE" -eq 1 ] || { peerlane -j events >/tmp/told 2>&1 & listener=$!; }
	start
	[ "$NODE" -eq 2 ] || { as_rank_0; return; }
	check 'all lanes live' test "$(in_state 1)" -eq 4
	tell "$(peer_qpn 2)"
	check 'a lane of which nothing is heard is left' wait_left 1
	check 'and the group goes on' goes_on
	check 'why names it' found lane-left 'len(found) == 1 and "lane 2 to aggregator 0 failed" in found[0]'
	sleep 1
	grep -q '"kind":"lane-left".*"by":"rank".*"rank":1,"aggregator":0,"lane":2,' /tmp/told
	result $? 'an event told of it' /tmp/told
	tell "$(peer_qpn 0)"
	check 'so is the one that messages of the link go by' wait_left 2
	check 'and the group goes on' goes_on
	tell none
	stop 'no sum is wrong, no result came twice'
	kill "$listener"
}

# soon COMMAND...: what is measured wavers on a busy machine.
soon() {
	local try
	for ((try = 0; try < 6; try++)); do ! "$@" || return 0; done
	return 1
}

# found ID EXPRESSION: what "peerlane why" finds of rank 1's lanes is that.
found() {
	peerlane -j why "$number" interval 2 >/tmp/why 2>&1
	python3 -c 'import json, sys
found = [one["message"] for one in json.load(open("/tmp/why"))
	 if one["id"] == sys.argv[1] and one["rank"] == 1]
print(found)
sys.exit(not eval(sys.argv[2]))' "$1" "$2" || { sed "s/^/# /" /tmp/why; return 1; }
}

# Results do not arrive.
unseen() {
	start
	[ "$NODE" -eq 2 ] || { as_rank_0; return; }
	nft add rule inet paths in udp dport 4791 @th,104,24 "$(qpn 1)" counter drop
	check 'a lane on which nothing comes is left' wait_left 1
	check 'and the group goes on' goes_on
	nft flush chain inet paths in
	"$paths" lanes | sed 's/^/# /'
	stop 'no sum is wrong, no result came twice'
}

# Without a lane there is no link.
all_lost() {
	local lane
	start
	[ "$NODE" -eq 2 ] || { as_rank_0; return; }
	for lane in 0 1 2 3; do tell "$(peer_qpn "$lane")"; done
	finish_ranks
	cat /tmp/rank.1 /tmp/rank.2 | sed 's/^/# /'
	grep -q 'ended aggregator 0' /tmp/rank.1 && grep -q 'ended .*rank 1' /tmp/rank.2
	result $? 'without a lane the group ends, on all ranks'
	tell none
	barrier "end-$number" 300
}

# share LANE: of what is sent in five seconds, in percent.
share() {
	local one all
	one=$(messages "$1")
	all=$(total)
	sleep 5
	one=$(($(messages "$1") - one))
	all=$(($(total) - all))
	echo "# lane $1 has $one of $all" >&2
	echo $((100 * one / (all + 1)))
}

slow() {
	local part
	start
	[ "$NODE" -eq 2 ] || { as_rank_0; return; }
	tc qdisc add dev eth0 root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	tc qdisc add dev eth0 parent 1:4 netem limit 10000 delay 100ms
	# Behind 20 bytes of IP and 8 of UDP there are 4 before the queue pair's.
	tc filter add dev eth0 parent 1: u32 match ip protocol 17 0xff \
		match u32 "$(peer_qpn 1)" 0x00ffffff at 32 flowid 1:4
	sleep 2
	part=$(share 1)
	check "a slow lane gets little ($part %)" test "$part" -le 12
	check 'why says so' soon found lane-slow 'len(found) == 1 and "lane 1 to aggregator 0 takes" in found[0]'
	sed 's/^/# /' "/tmp/check.$NODE"
	"$paths" lanes | sed 's/^/# /'
	tc qdisc del dev eth0 root
	sleep 2
	part=$(share 1)
	check "and more again when it is not ($part %)" test "$part" -ge 15
	"$paths" lanes | sed 's/^/# /'
	stop 'no sum is wrong'
}

declare -A here=([unheard]=8 [unseen]=3 [all_lost]=1 [slow]=4)
[ $# -gt 0 ] || set -- unheard unseen slow all_lost
count=0
for part in "$@"; do count=$((count + here[$part])); done
if [ "$NODE" -eq 1 ]; then
	serve &
	server=$!
	"$paths" aggregator "$port" &
	aggregator=$!
	sleep 3
else
	plan "$count"
fi
for part in "$@"; do "$part"; done
[ "$NODE" -ne 1 ] || kill "$server" "$aggregator"
finish
