#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run -- selftests/netlink/run.sh NAME...
#
# The tests of test_NAME.py; NAME.WORD: those with WORD in their name.
set -euo pipefail

# shellcheck source=/dev/null
. "$RIG/env"
export MODULE=$RIG_MODULE MODULE_PARAMS=$RIG_PARAMS PYTHONDONTWRITEBYTECODE=1
export YNL=$TREE/build/selftests/netlink/ynl

# As many packets as a sender can make, if the receiver is not at once there.
echo 100000 >/proc/sys/net/core/netdev_max_backlog
[ -e /sys/module/veth ] || modprobe veth
exec python3 "$TREE/selftests/netlink/suite.py" "$@"
