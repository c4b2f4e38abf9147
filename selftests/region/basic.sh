#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 --bar-size 64 -- selftests/region/basic.sh [GLOB...]
#
# The tests of ABI, mappings, limits, permissions and sysfs; or only those whose
# names match a GLOB: limit, 'mmap_*', …
set -euo pipefail
shopt -s extglob failglob

tests=()
for glob in "${@:-@(abi|limit|mmap|permission|sysfs)?(_*)}"; do
	# By the sources: a program that was not built must be missed.
	for source in "$TREE"/selftests/region/$glob'_test.'@(c|sh); do
		name=${source##*/}
		case $name in
		*.c) tests+=("$TREE/build/selftests/region/${name%.c}") ;;
		*) tests+=("$source") ;;
		esac
	done
done
exec "$TREE/selftests/unit/run" "${tests[@]}"
