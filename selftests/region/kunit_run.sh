#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module's pure code under KUnit, whose runs taint a kernel (bit 18):
#
#   selftests/vm/run --kernel debug --no-rdma --no-module --allow-taint 18 \
#       --cmdline kunit.enable=1 --cmdline kunit.autorun=1 -- selftests/region/kunit_run.sh
set -euo pipefail
shopt -s extglob failglob

# result NUMBER NOUN: what the suite peerlane_NOUN came to.
result() {
	local results=/sys/kernel/debug/kunit/peerlane_$2/results
	echo "# Subtest: $2"
	if [ -e "$results" ]; then sed 's/^/    /' "$results"; fi
	if grep -qE "^ok [0-9]+ peerlane_$2$" "$results"; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
	fi
}

insmod "$TREE/build/$(uname -r)/pl_kunit.ko"
# By the sources: a suite that did not run must be missed.
sources=("$TREE"/selftests/modules/kunit_!(module).c)
echo "TAP version 14"
echo "1..${#sources[@]}"
number=0
for source in "${sources[@]}"; do
	noun=${source##*/kunit_}
	result "$((++number))" "${noun%.c}"
done
rmmod pl_kunit
