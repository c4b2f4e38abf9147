# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TAP for the tests of the build: plan N, then check NAME COMMAND [ARG...].

export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
# shellcheck disable=SC2034 # for those who source this
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
tap_number=0
tap_failed=0

plan() { echo "1..$1"; }

# check NAME COMMAND...: its output is shown only when it fails.
check() {
	local tap_name=$1
	shift
	tap_number=$((tap_number + 1))
	if "$@" >"$scratch/.output" 2>&1; then
		echo "ok $tap_number - $tap_name"
	else
		sed 's/^/# /' "$scratch/.output"
		echo "not ok $tap_number - $tap_name"
		tap_failed=1
	fi
}

# fails COMMAND...: the command must not succeed.
fails() { ! "$@"; }

# says TEXT COMMAND...: its output, whatever its status, contains TEXT.
says() {
	local text=$1 output
	shift
	output=$("$@" 2>&1) || true
	printf '%s\n' "$output"
	[[ $output == *"$text"* ]]
}

finish() { exit "$tap_failed"; }
