# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# host_call SECONDS NAME [ARG...]: have the host side do something; its output
# and its exit status become ours.  The request is a line on the control port;
# the answer comes as files, because bytes and several callers at once are safe
# there.  Who answers in the host's place sets RIG_PORT, and RIG for the answers.

host_call() {
	local bound=$1 id=$NODE-$BASHPID-$RANDOM$RANDOM line end nap rc
	shift
	line="$RIG_NONCE request $id $(printf '%q ' "$@")"
	case $line in
	*" \$'"*)
		echo "host: arguments must be plain text" >&2
		return 2
		;;
	esac
	printf '%s\n' "$line" >"${RIG_PORT:-/dev/ttyS2}"

	# A read that never gets anything sleeps without starting a program.
	exec {nap}<> <(:)
	end=$((SECONDS + bound))
	until [ -e "$RIG/reply/$id.rc" ]; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "host $1: no answer within $bound s" >&2
			return 124
		fi
		read -rt 0.05 -u "$nap" || true
	done
	exec {nap}<&-
	[ ! -s "$RIG/reply/$id.out" ] || cat "$RIG/reply/$id.out"
	[ ! -s "$RIG/reply/$id.err" ] || cat "$RIG/reply/$id.err" >&2
	rc=$(<"$RIG/reply/$id.rc")
	return "$rc"
}
