#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 --bar-size 64 --param aggregator=1 -- \
#	selftests/group/group_run.sh TEST...
#
# Tests of groups on one node: ranks and aggregators in one kernel.
set -euo pipefail

exec "$TREE/selftests/unit/run" "${@/#/"$TREE/build/selftests/group/"}"
