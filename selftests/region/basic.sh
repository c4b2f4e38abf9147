#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 -- selftests/region/basic.sh [GLOB...]
#
# The tests of ABI, mappings, limits, permissions and sysfs; or only those whose
# names match a GLOB.
set -euo pipefail
shopt -s nullglob

programs=()
for glob in "${@:-@(abi|limit|mmap|permission|sysfs)_*}"; do
	shopt -s extglob
	# shellcheck disable=SC2206 # a glob
	programs+=("$TREE"/build/selftests/region/$glob'_test')
done
exec "$TREE/selftests/unit/run" "${programs[@]}"
