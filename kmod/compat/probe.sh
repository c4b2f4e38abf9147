#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# usage: probe.sh SOURCE RESULT COMPILER [FLAG...]
#
# Asks whether SOURCE compiles and writes "#define HAVE_<NAME> 1" or
# "/* HAVE_<NAME> undef */" to RESULT. SOURCE named control_pass* or
# control_fail* is a check of the asking itself and stops the build when it
# goes the other way. A "no" counts only when the compiler objects to a line
# of SOURCE: a missing header, a full disk or a broken compiler is not a "no".

source=$1
result=$2
shift 2
name=$(basename "$source" .c)
macro=HAVE_$(printf '%s' "$name" | tr '[:lower:]' '[:upper:]')
log=$result.log

stop() {
	{
		printf 'peerlane: probe %s: %s\n' "$name" "$1"
		sed 's/^/    /' "$log"
		shift
		printf '    command: %s -fsyntax-only %s\n' "$*" "$source"
	} >&2
	exit 1
}

yes=false
LC_ALL=C "$@" -fsyntax-only "$source" >"$log" 2>&1 && yes=true

if ! $yes; then
	grep -q 'fatal error:' "$log" &&
		stop 'the kernel headers or the compiler are broken' "$@"
	grep -F "$name.c:" "$log" | grep -q 'error:' ||
		stop 'the compiler failed for another reason than the probe' "$@"
fi

case $name in
control_pass*)
	$yes || stop 'does not compile, but must: wrong kernel headers or compiler?' "$@"
	echo "/* $name: as expected */" >"$result.tmp" ;;
control_fail*)
	! $yes || stop 'compiles, but must not: the compiler accepts everything' "$@"
	echo "/* $name: as expected */" >"$result.tmp" ;;
*)
	if $yes; then
		echo "#define $macro 1" >"$result.tmp"
	else
		echo "/* $macro undef */" >"$result.tmp"
	fi ;;
esac
mv "$result.tmp" "$result"
