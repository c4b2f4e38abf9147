#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 --nvme --host-hook selftests/verbs/hook -- \
#	selftests/verbs/library.sh [library] [fileio]
#
# The library's calls on the real module; files into and out of regions.  With
# an IOMMU too: library.sh fileio
set -uo pipefail

# shellcheck source=guest.sh
. "${BASH_SOURCE[0]%/*}/guest.sh"

# What the programs want to find in their environment
functions=()
mapfile -t functions < <(bar_functions)
export PCI_0=${functions[0]} PCI_1=${functions[1]:-} OTHER_DRIVER=pci-stub
modprobe pci-stub

# The third line is that of BAR 2.
read -r BAR_PHYS _ < <(sed -n 3p "/sys/bus/pci/devices/$PCI_0/resource")
export BAR_PHYS DISK=/dev/nvme0n1
[ ! -d /sys/class/iommu/dmar0 ] || export IOMMU=1
modprobe nvme
for _ in {1..50}; do
	[ ! -b "$DISK" ] || break
	sleep 0.1
done

build_programs || exit 1
failed=0
[ $# -gt 0 ] || set -- library fileio
for program in "$@"; do
	timeout 200 "$tools/$program" || failed=1
done
exit "$failed"
