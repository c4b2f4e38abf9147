#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The udev rule and the group: who is in it opens the nodes, nobody else does.
set -euo pipefail

# shellcheck source=../build/tap.sh
. "$TREE/selftests/build/tap.sh"

udevd=/lib/systemd/systemd-udevd
names=(
	the_group_is_made
	nodes_belong_to_the_group
	a_new_node_belongs_to_the_group
	a_member_opens_them
	a_stranger_does_not
)

if ! [ -x $udevd ] || ! command -v systemd-sysusers >/dev/null; then
	plan 0 && echo "# no systemd-udevd" && exit 1
fi
plan ${#names[@]}

mode() { stat -c '%a %U:%G' "/dev/peerlane/$1"; }
is_ours() { [ "$(mode "$1")" = '660 root:peerlane' ] || { mode "$1"; false; }; }
as() {
	local groups=$1
	shift
	setpriv --reuid 1001 --regid 1001 --groups "$groups" --inh-caps=-all "$@"
}

group_is_made() {
	systemd-sysusers "$TREE/utils/sysusers.d/peerlane.conf" && getent group peerlane
}

start_udevd() {
	mkdir -p /run/udev/rules.d
	cp "$TREE/utils/udev/60-peerlane.rules" /run/udev/rules.d/
	$udevd --resolve-names=early >"$scratch/udevd" 2>&1 &
	udevd_pid=$!
	trap 'kill $udevd_pid 2>/dev/null || true; rm -rf "$scratch"' EXIT
	for ((try = 0; try < 100; try++)); do
		[ ! -e /run/udev/control ] || return 0
		sleep 0.1
	done
	cat "$scratch/udevd"
	return 1
}

nodes_are_ours() {
	udevadm trigger --action=add --subsystem-match=peerlane &&
		udevadm settle --timeout=30
	is_ours control && is_ours gpu0
}

new_node_is_ours() {
	local function
	function=$(basename "$(realpath /sys/class/peerlane/gpu0/device)")
	echo "$function" >/sys/bus/pci/drivers/peerlane/unbind
	[ ! -e /dev/peerlane/gpu0 ] || return 1
	echo "$function" >/sys/bus/pci/drivers/peerlane/bind
	# Before udev has seen it, it is root's alone.
	case $(mode gpu0) in
	'660 root:root' | '660 root:peerlane') ;;
	*) mode gpu0 && return 1 ;;
	esac
	udevadm settle --timeout=30
	is_ours gpu0
}

opens() { as "$1" sh -c 'exec 3<>/dev/peerlane/gpu0 4<>/dev/peerlane/control'; }
lists() { as peerlane peerlane device list && opens peerlane; }

check "${names[0]}" group_is_made
start_udevd || exit 1
check "${names[1]}" nodes_are_ours
check "${names[2]}" new_node_is_ours
check "${names[3]}" lists
check "${names[4]}" fails opens 1001
finish
