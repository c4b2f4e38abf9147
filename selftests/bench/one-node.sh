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

# With the pages on the processors' own lists, which MemFree leaves out and
# which are as many as a bind takes.
free_bytes() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/stat_refresh
	awk '/pages free/ { n += $3 } $1 == "count:" { n += $2 } END { print n * 4096 }' \
		/proc/zoneinfo
}

# Bytes that binding took, for each GiB of BAR.
ram_of_bind() {
	local pci before after
	while read -r pci; do
		before=$(free_bytes)
		peerlane device bind "$pci" >/dev/null || return
		after=$(free_bytes)
		echo "sample ram-per-gib-bound/bar $(((before - after) * 1024 / (BAR_SIZE >> 20)))"
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
