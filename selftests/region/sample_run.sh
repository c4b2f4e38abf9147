#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run -- selftests/region/sample_run.sh
#
# The calls for other drivers, with each allocator. The BAR is not bound.
set -euo pipefail

function=$(lspci -Dnd 1af4:1110)
function=${function%% *}
rc=0
for mode in own pool; do
	own=$([ "$mode" = own ] && echo 1 || echo 0)
	insmod "$TREE/build/$(uname -r)/pl_sample.ko" "pci=$function" "own_allocator=$own"
	"$TREE/build/selftests/region/sample_test" "$mode" || rc=$?
	# Fails if a region was left.
	rmmod pl_sample
done
exit "$rc"
