#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 -- selftests/region/lifetime_run.sh [GLOB...]
#
# The tests of lifetimes, revocation and unplugging; or only those whose names
# match a GLOB.
set -euo pipefail
shopt -s nullglob extglob

programs=()
for glob in "${@:-@(lifetime|revoke)_*}"; do
	# shellcheck disable=SC2206 # a glob
	programs+=("$TREE"/build/selftests/region/$glob'_test')
done
exec "$TREE/selftests/unit/run" "${programs[@]}"
