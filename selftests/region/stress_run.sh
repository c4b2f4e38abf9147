#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 --nvme -- selftests/region/stress_run.sh [SECONDS [SEED]]
#
# Unplugging, and races against revocation and unbinding; SECONDS for each
# program (10).
set -euo pipefail

modprobe nvme
for ((try = 0; try < 50; try++)); do
	[ ! -e /dev/nvme0n1 ] || break
	sleep 0.1
done
export STRESS_SECONDS=${1:-10}
[ $# -lt 2 ] || export SEED=$2
exec "$TREE/selftests/region/lifetime_run.sh" hotplug 'stress_*'
