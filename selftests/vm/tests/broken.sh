#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each of three nodes goes wrong in its own way.
set -euo pipefail

parameters=/sys/module/peerlane_splat/parameters
case $NODE in
1)
	echo 1..3
	ktap-mark harmless
	echo "ok 1 harmless"
	ktap-mark deliberate-splat
	echo 1 >$parameters/warn
	ktap-mark wrong-result
	echo "not ok 2 wrong-result"
	echo 1 >$parameters/pin
	exit 3
	;;
2)
	echo c >/proc/sysrq-trigger
	;;
3)
	echo "deadbeefdeadbeef passed" >/dev/ttyS2
	/peerlane-rig/busybox poweroff -f
	;;
esac
sleep 1000
