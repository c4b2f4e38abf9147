#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# one-node.sh RUNS: registration, regions, host memory of a bound BAR.  Needs
# one BAR for each run, none of them bound.  Prints "sample SERIES VALUE"; see
# run.
set -uo pipefail

# shellcheck source=../verbs/guest.sh
. "${BASH_SOURCE[0]%/*}/../verbs/guest.sh"

runs=$1
failed=0

free_kib() {
	local name value
	sync
	echo 3 >/proc/sys/vm/drop_caches
	while read -r name value _; do
		[ "$name" != MemFree: ] || echo "$value"
	done </proc/meminfo
}

# Bytes that binding took, for each GiB of BAR.  Each BAR is bound once: what an
# unbind gives back stays on lists of the processors, which MemFree leaves out.
ram_of_bind() {
	local pci before after
	while read -r pci; do
		before=$(free_kib)
		peerlane device bind "$pci" >/dev/null || return
		after=$(free_kib)
		echo "sample ram-per-gib-bound/bar $(((before - after) * (1 << 30) / (BAR_SIZE >> 10)))"
	done < <(bar_functions | head -n "$runs")
}

# 256 MiB and 64 MiB at the same time, and one to spare
echo 161 >/proc/sys/vm/nr_hugepages
modprobe -q udmabuf
ram_of_bind || failed=1
for measure in reg reg-growth open alloc-growth export; do
	echo "progress $measure"
	timeout 300 "$TREE/build/selftests/bench/micro" "$runs" "$measure" || failed=1
done
exit "$failed"
