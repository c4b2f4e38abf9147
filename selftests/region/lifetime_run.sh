#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --bind --bars 2 -- selftests/region/lifetime_run.sh [GLOB...]
#
# The tests of lifetimes and revocation; or those whose names match a GLOB:
# hotplug, 'stress_*', …
set -euo pipefail
shopt -s extglob failglob

# shellcheck source=/dev/null
. "$RIG/env"
export MODULE=$RIG_MODULE MODULE_PARAMS=$RIG_PARAMS

programs=()
for glob in "${@:-@(lifetime|revoke)_*}"; do
	# By the sources: a program that was not built must be missed.
	for source in "$TREE"/selftests/region/$glob'_test.c'; do
		source=${source##*/}
		programs+=("$TREE/build/selftests/region/${source%.c}")
	done
done
exec "$TREE/selftests/unit/run" "${programs[@]}"
