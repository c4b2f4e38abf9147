# SPDX-License-Identifier: GPL-2.0
#
# bash completion for peerlane(8). The command says itself which commands it
# has; devices and processes are those of this node.

_peerlane_devices()
{
	local path

	for path in /dev/peerlane/*; do
		[[ -c $path && $path != */control ]] && printf '%s\n' "${path##*/}"
	done
}

_peerlane_functions()
{
	local path

	for path in /sys/bus/pci/devices/*; do
		[[ -e $path ]] && printf '%s\n' "${path##*/}"
	done
}

# Words that may follow what has been typed after "peerlane OBJECT COMMAND".
_peerlane_arguments()
{
	local count=$3 previous=$4

	case "$1 $2" in
	"device show" | "device unbind")
		((count == 0)) && _peerlane_devices
		;;
	"device bind")
		_peerlane_functions
		((count)) && echo force
		;;
	"device path")
		((count == 0)) && _peerlane_devices
		((count < 2)) && _peerlane_functions
		;;
	"region list")
		if ((count % 2 == 0)); then
			printf '%s\n' dev pid state
		elif [[ $previous == dev ]]; then
			_peerlane_devices
		elif [[ $previous == state ]]; then
			printf '%s\n' empty active revoked limbo released
		elif [[ $previous == pid ]]; then
			peerlane -j region list 2>/dev/null |
				grep -o '"pid":[0-9]*' | cut -d: -f2 | sort -nu
		fi
		;;
	esac
}

_peerlane()
{
	local cur prev words cword word typed=() choices

	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n : cur prev words cword
	else
		words=("${COMP_WORDS[@]}")
		cword=$COMP_CWORD
		cur=${words[cword]}
		prev=${words[cword - 1]}
	fi

	for word in "${words[@]:1:cword-1}"; do
		[[ $word == -* ]] || typed+=("$word")
	done

	if [[ $cur == -* ]]; then
		choices="-json -pretty -human -Numeric -color -Version -help"
	elif ((${#typed[@]} == 0)); then
		choices=$(peerlane --list-cmds 2>/dev/null | cut -d' ' -f1 | uniq)
	elif ((${#typed[@]} == 1)); then
		choices=$(peerlane --list-cmds 2>/dev/null |
			sed -n "s/^${typed[0]//[^a-z]/} //p")
	else
		choices=$(_peerlane_arguments "${typed[0]}" "${typed[1]}" \
			$((${#typed[@]} - 2)) "$prev")
	fi

	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
	if declare -F __ltrim_colon_completions >/dev/null; then
		__ltrim_colon_completions "$cur"
	fi
}

complete -F _peerlane peerlane
