#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --cmdline nopat -- selftests/region/sysfs_nopat.sh
#
# Without PAT there is no write-combining: nothing is bound, and it is said why.
set -euo pipefail

# shellcheck source=../build/tap.sh
. "$TREE/selftests/build/tap.sh"

for path in /sys/bus/pci/devices/*; do
	[ "$(<"$path/vendor"):$(<"$path/device")" != 0x1af4:0x1110 ] || function=${path##*/}
done

plan 4
check the_module_loads test -e /dev/peerlane/control
check the_command_says_why says "PAT is off" peerlane device bind "$function"
check the_command_fails fails peerlane device bind "$function"
check nothing_is_bound fails test -e /sys/class/peerlane/gpu0
finish
