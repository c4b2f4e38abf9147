#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# preflight_run.sh port|switch|iommu: as the machine was made
#
#   selftests/vm/run --bind --edu -- selftests/region/preflight_run.sh port
#   selftests/vm/run --bind --edu --switch -- selftests/region/preflight_run.sh switch
#   selftests/vm/run --bind --edu --iommu -- selftests/region/preflight_run.sh iommu
set -euo pipefail

# enum peerlane_path, and bridges: two root ports; or up and down a switch
case $1 in
port) expected=(3 4) ;;
switch) expected=(1 4) ;;
iommu) expected=(4 4) ;;
esac
insmod "$TREE/build/$(uname -r)/pl_edu.ko" dma_bits=28
insmod "$TREE/build/$(uname -r)/pl_importer.ko"
insmod "$TREE/build/$(uname -r)/pl_link.ko"
rc=0
"$TREE/build/selftests/region/preflight_test" "${expected[@]}" || rc=$?
rmmod pl_link pl_importer pl_edu
exit "$rc"
