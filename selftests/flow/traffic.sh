# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For scripts that compare the table of flows with captures of the same packets,
# taken where the module looks: what is received before LOCAL_IN, what is sent
# behind LOCAL_OUT, with nothing in between that loses, delays or reorders.
# Sourced.
#
#	LOCAL_OUT ─┬─► eth0: netem, tbf, red ─► wire
#	           └─► sent0, a mirror: capture
#	LOCAL_IN ◄── capture ◄── eth0 ◄── wire

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

# All headers, and as much of a management message as tells queue pairs.
snaplen=342
declare -A catchers=()

# ---- captures ----------------------------------------------------------------

# catch NAME DEVICE [FILTER]: to $OUT/NAME.DEVICE.pcap
catch() {
	local file=$1.$2 device=$2
	shift 2
	tcpdump -Z root -p -i "$device" -U --immediate-mode -B 16384 -s "$snaplen" --time-stamp-precision=nano \
		-w "$OUT/$file.pcap" "$@" 2>"/tmp/tcpdump.$file.$NODE" &
	catchers[$file]=$!
}

# Programs that look for a line would take longer than it takes to come.
says() { [[ $(<"/tmp/tcpdump.$1.$NODE") == *"$2"* ]]; }

all_catch() {
	local file try
	for file in "${!catchers[@]}"; do
		for ((try = 0; try < 300; try++)); do
			! says "$file" 'listening on' || continue 2
			sleep 0.1
		done
		cat "/tmp/tcpdump.$file.$NODE"
		return 1
	done
}

# caught_all FILE: has it written all that its socket got?  libpcap loses the very
# first one, see greet().
caught_all() {
	local text
	text=$(<"/tmp/tcpdump.$1.$NODE")
	[[ $text =~ .*[^0-9]([0-9]+)\ packets?\ captured.*[^0-9]([0-9]+)\ packets?\ received\ by\ filter ]] &&
		[ "${BASH_REMATCH[1]}" -ge "$((BASH_REMATCH[2] - 1))" ]
}

# let_go: all of them, when they have caught up; fails if one had to drop packets.
let_go() {
	local file status=0 try
	for file in "${!catchers[@]}"; do
		for ((try = 0; try < 50; try++)); do
			kill -USR1 "${catchers[$file]}"
			sleep 0.2
			! caught_all "$file" || break
		done
	done
	kill -INT "${catchers[@]}"
	for file in "${!catchers[@]}"; do
		wait "${catchers[$file]}"
		# What else is not there, the comparison finds.
		says "$file" $'\n0 packets dropped by kernel' || {
			cat "/tmp/tcpdump.$file.$NODE"
			status=1
		}
	done
	catchers=()
	return "$status"
}

# ---- what becomes of packets that are sent ----------------------------------------

mirror() {
	modprobe -aq dummy sch_netem sch_tbf sch_red sch_ingress cls_matchall act_mirred
	ip link add sent0 type dummy && ip link set sent0 mtu 4200 up &&
		tc qdisc add dev eth0 clsact &&
		tc filter add dev eth0 egress matchall action mirred egress mirror dev sent0
}

# leaving QDISC...: all of netem, or of something else
leaving() {
	tc qdisc del dev eth0 root 2>/dev/null
	tc qdisc add dev eth0 root handle 1: "$@"
}

# marking RATE: a slow link, whose queue marks packets from 7 on.
marking() {
	leaving tbf rate "$1" burst 10k limit 4m &&
		tc qdisc replace dev eth0 parent 1:1 handle 10: red limit 4m min 30k max 90k \
			avpkt 4200 burst 13 bandwidth "$1" probability 0.1 ecn nodrop
}

# ---- the table ---------------------------------------------------------------------

look() {
	catch "$1" eth0 inbound
	catch "$1" sent0
	peerlane flow reset all >/dev/null
	peerlane -j flow stats >"$OUT/$1.before.json"
	all_catch
}

# Something that nobody misses, to the port that discards.
greet() {
	local node name
	for ((node = 1; node <= NODES; node++)); do
		name=NODE_IP_$node
		[ "$node" -eq "$NODE" ] || echo >"/dev/udp/${!name}/9"
	done 2>/dev/null
}

# look_away NAME: what was seen is in $OUT.
look_away() {
	sleep 0.5
	peerlane -j flow show >"$OUT/$1.json" && peerlane -j flow stats >"$OUT/$1.stats.json"
	let_go
}

# compare NAME OPTION...
compare() {
	local rc own name=$1
	shift
	own=NODE_IP_$NODE
	host flow-truth "$NODE" "$name" "--address=${!own}" "--address=$(link_local)" "$@"
	rc=$?
	[ "$rc" -ne 3 ] || echo "round trips differ"
	return "$rc"
}

# Also of a node without software RDMA
link_local() {
	local line
	while read -r line; do
		[[ $line != *" eth0" || $line != fe80* ]] || {
			line=${line%% *}
			printf 'fe80::%x:%x:%x:%x\n' "0x${line:16:4}" "0x${line:20:4}" \
				"0x${line:24:4}" "0x${line:28:4}"
		}
	done </proc/net/if_inet6
}

# The index of the GID that is our link-local address in RoCE v2.
link_local_gid() {
	local dir=/sys/class/infiniband/$RDMA_DEV/ports/1 k
	for ((k = 0; k < 16; k++)); do
		[[ $(<"$dir/gids/$k") == fe80:* ]] || continue
		[[ $(<"$dir/gid_attrs/types/$k") == *v2* ]] || continue
		echo "$k"
		return
	done 2>/dev/null
}

# traffic NAME COMMAND...: on all nodes, of which those in `lookers' compare, with
# the options in the array `options'.
lookers='1 2 3'
options=()
traffic() {
	local name=$1 log=/tmp/$1.$NODE rc
	shift
	ktap-mark "$name"
	look "$name" >"$log" 2>&1
	barrier "look-$name" 90
	greet
	"$@" "$OUT/$name.$NODE.log" >>"$log" 2>&1
	rc=$?
	[ "$rc" -eq 0 ] || cat "$OUT/$name.$NODE.log" >>"$log"
	barrier "sent-$name" 150
	look_away "$name" >>"$log" 2>&1 || rc=1
	result "$rc" "$name: runs" "$log"
	barrier "away-$name" 60
	[[ $lookers == *$NODE* ]] || return 0
	compare "$name" "${options[@]}" >"$log" 2>&1
	rc=$?
	sed 's/^/# /' "$log"
	result "$rc" "$name: the table is what was captured"
}

# The third node looks on.
bench() {
	if [ "$NODE" -gt 2 ]; then
		perftest_port=$((perftest_port + 1))
		barrier "perftest-$perftest_port" 60
		return
	fi
	perftest "${*: -1}" "${@:1:$#-1}"
}

# Also the messages of the connection manager.
ping_rdma() {
	local server log=${*: -1}
	case $NODE in
	1)
		barrier rping 60
		rping -c "${@:1:$#-1}" -a "$NODE_IP_2" -p 18900 >"$log" 2>&1
		;;
	2)
		rping -s "${@:1:$#-1}" -a "$NODE_IP_2" -p 18900 >"$log" 2>&1 &
		server=$!
		sleep 1
		barrier rping 60
		wait "$server"
		;;
	*) barrier rping 60 ;;
	esac
}
