#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Node 1 never ends; node 2 waits for it in vain and then reports without a plan.
set -uo pipefail

if [ "$NODE" = 1 ]; then
	echo "node 1 hangs here"
	sleep 1000
fi
barrier in-vain 2
echo "the barrier said $?"
echo "ok 1 no plan was ever made"
exit 0
