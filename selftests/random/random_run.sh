#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# random_run.sh [SECONDS [SEED [ACTIONS]]]: everything at once, in random order.
#
#   selftests/vm/run --bind --bars 2 --bar-size 64 --nvme --edu --timeout 600 -- \
#           selftests/random/random_run.sh
#
# Without arguments 40 s with a seed that is always the same; with SECONDS alone
# a new seed, which is printed, and may be given to have the same choices again.
set -euo pipefail

seconds=${1:-40}
[ $# -gt 0 ] || set -- "$seconds" 20261129
seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

for module in pl_edu pl_importer; do
	insmod "$TREE/build/$(uname -r)/$module.ko"
done
# Before anything runs: recording patches the kernel's code, and QEMU, when it
# emulates, may have another processor run half of a patch. Names of processes
# would patch the scheduler's.
tracing=/sys/kernel/tracing
echo 0 >$tracing/options/record-cmd
echo 1 >$tracing/events/peerlane/enable
rc=0
"$TREE/build/selftests/random/random_test" "$seconds" "$seed" "${@:3}" || rc=$?
# Fails if a test left something that holds it.
rmmod pl_importer pl_edu
exit "$rc"
