#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --host-hook selftests/verbs/hook -- selftests/flow/doctor.sh
#
# peerlane doctor, and the library's view of ports and queue pairs, on real RDMA
# in software: what is broken here has to be found, and what rdma(8) says has to
# be what the library says.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

report=/tmp/doctor.json
ports=$tools/ports

# doctor [ARGUMENT...]: the report goes to $report, the status to $status.
doctor() {
	peerlane -j doctor interval 0 "$@" >"$report" 2>/tmp/doctor.err
	status=$?
	[ ! -s /tmp/doctor.err ] || cat /tmp/doctor.err
}

# severity ID [SUBJECT]
severity() {
	tr '{' '\n' <"$report" |
		sed -n "s|^\"id\":\"$1\",\"severity\":\"\([a-z]*\)\",\"subject\":\"${2:-[^\"]*}\".*|\1|p"
}

# is ID SEVERITY [SUBJECT]
is() {
	local got
	got=$(severity "$1" "${3:-}")
	[ "$got" = "$2" ] && return
	echo "$1 is \"$got\", not \"$2\""
	cat "$report"
	return 1
}

# The exit status has to say what the report says.
status_fits() {
	local want=0
	! grep -qE '"severity":"(problem|warning)"' "$report" || want=2
	[ "$status" -eq "$want" ] || {
		echo "exit status $status, not $want"
		cat "$report"
		return 1
	}
}

sound() {
	doctor
	is rdma-device ok && is module ok && is port-state ok rxe0/1 && is mtu ok &&
		is gid ok && is pfc note rxe0/1 && is rdma-netns ok && is port-readable '' &&
		is dscp-trust '' && is global-pause '' && is link-rate '' && is netdev '' &&
		status_fits
}

text() {
	peerlane doctor all >/tmp/doctor.txt
	grep -q '^ok  *port-state rxe0/1: the port is active$' /tmp/doctor.txt &&
		tail -n 1 /tmp/doctor.txt | grep -qE '^[0-9]+ checks: problem [0-9]+, .* ok [0-9]+$' ||
		{ cat /tmp/doctor.txt; return 1; }
}

one_device() {
	doctor dev rxe0/1
	is rdma-device ok && is mtu ok || return 1
	doctor dev other0
	is rdma-device problem && is mtu '' && [ "$status" -eq 2 ]
}

without_root() {
	setpriv --reuid 65534 --regid 65534 --clear-groups peerlane -j doctor interval 0 \
		>"$report"
	status=$?
	is rdma-device ok && is gid ok && is mtu ok && is memlock warning && status_fits
}

small_packets() {
	local rc
	ip link set dev eth0 mtu 1500
	doctor
	is mtu note rxe0/1 && grep -q 'ip link set dev eth0 mtu 4200' "$report" && status_fits
	rc=$?
	ip link set dev eth0 mtu 4200
	return "$rc"
}

link_local() {
	local address rc
	address=$(ip -4 -o address show dev eth0 | awk '{ print $4 }')
	ip address del "$address" dev eth0
	sleep 0.5
	doctor
	is gid warning rxe0/1 && [ "$status" -eq 2 ]
	rc=$?
	ip address add "$address" dev eth0
	return "$rc"
}

link_down() {
	local rc
	ip link set dev eth0 down
	sleep 0.5
	doctor
	is port-state warning rxe0/1 && grep -q 'ip link set dev eth0 up' "$report" &&
		[ "$status" -eq 2 ]
	rc=$?
	ip link set dev eth0 up
	return "$rc"
}

# The interface is not there, though /sys still shows one of its name.
other_namespace() {
	unshare -n peerlane -j doctor interval 0 >"$report"
	status=$?
	is netdev unknown rxe0/1 && status_fits
}

# Without /sys, as in a container that was given none
no_sysfs() {
	unshare -m bash -c 'mount -t tmpfs none /sys && exec peerlane -j doctor interval 0' \
		>"$report"
	status=$?
	is rdma-device problem && is module warning && [ "$status" -eq 2 ]
}

# A name that leads nowhere, as in a container that was given part of /sys
dangling() {
	unshare -m bash -c 'mount -t tmpfs none /sys/class/infiniband &&
		ln -s ../../devices/none /sys/class/infiniband/mlx5_0 &&
		exec peerlane -j doctor interval 0' >"$report"
	status=$?
	is port-readable unknown mlx5_0/0 && status_fits
}

software_iwarp() {
	local rc
	rdma link add siw0 type siw netdev eth0 || return
	doctor dev siw0
	is port-state ok siw0/1 && is gid '' && is pfc '' && is mtu '' && is iommu '' && status_fits
	rc=$?
	"$ports" port | grep -q 'dev=siw0 .*driver=siw transport=iwarp software=1' || rc=1
	rdma link delete siw0
	return "$rc"
}

# field LINE NAME
field() { sed "s/.* $2=\([^ ]*\).*/\1/" <<<"$1"; }

# same_as_rdma COUNT: our list is that of rdma(8), each once, and has so many.
same_as_rdma() {
	"$ports" qp | awk '{ sub("dev=", "", $2); sub("port=", "", $3); sub("lqpn=", "", $4)
		print $2 "/" $3, $4 }' >/tmp/ours
	rdma resource show qp | sed -n 's/^link \([^ ]*\) .*lqpn \([0-9]*\) .*/\1 \2/p' |
		sort -u >/tmp/theirs
	[ "$(sort -u /tmp/ours | wc -l)" -eq "$(wc -l </tmp/ours)" ] || {
		echo "some are there twice"
		return 1
	}
	[ "$(wc -l </tmp/ours)" -ge "$1" ] && sort /tmp/ours | diff - /tmp/theirs
}

# wait_qps COUNT: until so many are ready to send
wait_qps() {
	local try
	for ((try = 0; try < 60; try++)); do
		[ "$("$ports" qp | grep -c 'type=rc state=rts')" -lt "$1" ] || return 0
		sleep 0.5
	done
	"$ports" qp
	return 1
}

# start_pair PROGRAM [OPTION...]: both ends here
start_pair() {
	perftest_port=$((perftest_port + 1))
	set -- "$@" -d "$RDMA_DEV" -x "$RDMA_GID" -F -s 4096 -D 600 -b -p "$perftest_port"
	"$@" >/tmp/server 2>&1 &
	server=$!
	wait_listening "$perftest_port"
	"$@" "$NODE_IP_1" >/tmp/client 2>&1 &
	client=$!
}

# What they hold stays, and the machine is free for others.
freeze_pair() { kill -STOP "$client" "$server"; }

end_pair() {
	kill -KILL "$client" "$server"
	wait "$client" "$server"
} 2>/dev/null

# Both ends are here: each QP's peer is a QP of the other process.
joined() {
	local line peer
	"$ports" qp >/tmp/qps
	[ "$(grep -c "pid=$client .*comm=ib_send_bw" /tmp/qps)" -eq 2 ] &&
		[ "$(grep -c "pid=$server .*comm=ib_send_bw" /tmp/qps)" -eq 2 ] ||
		{ cat /tmp/qps; return 1; }
	while read -r line; do
		peer=$(grep " lqpn=$(field "$line" rqpn) .*pid=$server " /tmp/qps) &&
			[ "$(field "$peer" rqpn)" = "$(field "$line" lqpn)" ] &&
			[ "$(field "$line" type) $(field "$line" state)" = "rc rts" ] ||
			{ echo "$line, peer: $peer"; return 1; }
	done < <(grep "pid=$client " /tmp/qps)
	grep -q 'lqpn=1 .*type=gsi .*pid=0 kernel=1 .*comm=ib_core' /tmp/qps
}

# counter COMMON: its value
counter() { "$ports" counter | sed -n "s/.* common=$1 value=\([0-9]*\) .*/\1/p"; }

counts_grow() {
	local before after
	before=$(counter tx_packets)
	sleep 1
	after=$(counter tx_packets)
	echo "from $before to $after packets"
	[ "$after" -gt "$before" ]
}

through_rdma_cm() {
	local server client rc
	rping -s -a "$NODE_IP_1" -C 1000000 >/tmp/rping.server 2>&1 &
	server=$!
	sleep 2
	rping -c -a "$NODE_IP_1" -C 1000000 >/tmp/rping.client 2>&1 &
	client=$!
	wait_qps 2
	"$ports" qp | tee /tmp/qps | grep -q "pid=$client .*comm=rping" &&
		grep -q "pid=$server .*comm=rping" /tmp/qps
	rc=$?
	end_pair
	[ "$rc" -eq 0 ] || cat /tmp/qps
	return "$rc"
}

without_devices() {
	rdma link delete rxe0
	doctor
	is rdma-device problem && [ "$status" -eq 2 ] && [ -z "$("$ports" qp)" ] &&
		[ -z "$("$ports" port)" ] && [ -z "$("$ports" gid)" ]
}

without_module() {
	rmmod peerlane && doctor && is module warning && [ "$status" -eq 2 ]
}

build_programs || exit 1
siw=0
! modprobe -q siw || siw=1
plan $((17 + siw))
check "a node in order" sound
check "text says the same" text
check "one device" one_device
check "without root" without_root
check "small packets are found" small_packets
check "link-local addresses are found" link_local
check "a link that is down is found" link_down
check "in another network namespace" other_namespace
check "without /sys" no_sysfs
check "a device that cannot be read" dangling
[ "$siw" -eq 0 ] || check "iWARP in software" software_iwarp
start_pair ib_send_bw -q 2
check "two processes begin" wait_qps 4
check "packets are counted" counts_grow
freeze_pair
check "queue pairs have process, peer and state" joined
end_pair
# Few requests each, as all of them share one queue of completions
start_pair ib_write_bw -q 180 -t 16
wait_qps 360 || tail -n 5 /tmp/client /tmp/server
freeze_pair
check "a list of several messages is that of rdma(8)" same_as_rdma 360
end_pair
check "queue pairs of rdma_cm" through_rdma_cm
check "without an RDMA device" without_devices
check "without the module" without_module
finish
