#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run -- selftests/flow/lib_flow_run.sh
#
# The library's calls for flows on the real module.
set -euo pipefail

# Where the module comes from, as init knows it
# shellcheck disable=SC1091
. "$RIG/env"
export RIG_MODULE RIG_PARAMS

modprobe veth
exec "$TREE/selftests/unit/run" "$TREE"/build/selftests/flow/lib_flow_{,event_}test
