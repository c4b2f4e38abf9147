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

_peerlane_endpoint_values()
{
	peerlane -j endpoint list 2>/dev/null |
		grep -o "\"$1\":[0-9]*" | cut -d: -f2 | sort -nu
}

_peerlane_group_values()
{
	peerlane -j group list 2>/dev/null |
		grep -o "\"$1\":[0-9]*" | cut -d: -f2 | sort -nu
}

_peerlane_functions()
{
	local path

	for path in /sys/bus/pci/devices/*; do
		[[ -e $path ]] && printf '%s\n' "${path##*/}"
	done
}

_peerlane_ports()
{
	local path

	for path in /sys/class/infiniband/*/ports/*; do
		[[ -e $path ]] || continue
		path=${path#/sys/class/infiniband/}
		printf '%s\n' "${path%%/*}" "${path/\/ports/}"
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
	"endpoint list" | "endpoint show")
		if [[ $previous == state ]]; then
			printf '%s\n' new listening connecting connected closed
		elif [[ $previous == pid ]]; then
			_peerlane_endpoint_values pid
		else
			[[ $2 == show ]] && ((count == 0)) && _peerlane_endpoint_values id
			printf '%s\n' pid state
		fi
		;;
	"group list" | "group show")
		if [[ $previous == state ]]; then
			printf '%s\n' new joining joined ending ended
		elif [[ $previous == pid ]]; then
			_peerlane_group_values pid
		else
			[[ $2 == show ]] && ((count == 0)) && _peerlane_group_values group
			printf '%s\n' pid state
		fi
		;;
	"group top")
		case $previous in
		interval) printf '%s\n' 1 2 10 ;;
		count) printf '%s\n' 1 10 ;;
		*)
			((count == 0)) && _peerlane_group_values group
			printf '%s\n' interval count once
			;;
		esac
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

# Options of "peerlane bench", or values of the one before.
_peerlane_bench()
{
	case $1 in
	--device) _peerlane_devices ;;
	-d | --rdma-device) _peerlane_ports | grep -v / ;;
	-s | --size) printf '%s\n' 8 4k 64k 1m ;;
	-n | --iters | -D | --duration | -q | --lanes | -t | --depth | -l | --list | \
		-p | --port | --quiet | --timeout | --secret | --source) ;;
	*)
		printf -- '--%s\n' size all iters duration lanes depth list \
			bidirectional flush busy-poll separate quiet poll-memory \
			check histogram json pretty device host rdma-device source \
			port secret timeout help
		;;
	esac
}

# The same of "peerlane bench allreduce" and "peerlane aggregator".
_peerlane_allreduce()
{
	case $1 in
	--device) _peerlane_devices ;;
	-d | --rdma-device) _peerlane_ports | grep -v / ;;
	--type) printf '%s\n' f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 ;;
	--op) printf '%s\n' sum avg min max prod band bor bxor ;;
	-b | --min-bytes | -e | --max-bytes) printf '%s\n' 8 4k 64k 1m 64m ;;
	--segment) printf '%s\n' 4k 64k 1m ;;
	--placement) printf '%s\n' auto dedicated colocated replicated tree ;;
	--trace) compgen -f -- "$cur" ;;
	--rank | --size | -a | --aggregator | -f | --factor | -n | --iters | -w | --warmup | \
		--source | --secret | --group | --window | --block | -q | --lanes | \
		--timeout | --op-timeout | --join-timeout) ;;
	*)
		printf -- '--%s\n' rank size aggregator min-bytes max-bytes factor iters \
			warmup type op in-place trace check device host rdma-device source \
			secret group placement segment window block lanes timeout op-timeout \
			join-timeout json pretty help
		;;
	esac
}

_peerlane_aggregator()
{
	case $1 in
	-d | --rdma-device | --device) _peerlane_ports | grep -v / ;;
	-m | --memory) printf '%s\n' 64m 256m 1g ;;
	-l | --listen | --secret | --max-groups | --backlog | --timeout | --join-timeout | \
		--parent | --parent-lanes) ;;
	*)
		printf -- '--%s\n' listen memory rdma-device max-groups backlog timeout \
			join-timeout parent parent-lanes secret json pretty help
		;;
	esac
}

# Words that may follow what has been typed after "peerlane doctor".
_peerlane_doctor()
{
	case $1 in
	dev) _peerlane_ports ;;
	dscp) printf '%s\n' 26 ;;
	interval) printf '%s\n' 0 1 10 ;;
	*) printf '%s\n' dev dscp interval all help ;;
	esac
}

# The same after "peerlane why": PREVIOUS COUNT.
_peerlane_why()
{
	case $1 in
	interval) printf '%s\n' 0 2 10 ;;
	*)
		if (($2 == 0)); then
			_peerlane_group_values group
			echo help
		else
			printf '%s\n' interval all
		fi
		;;
	esac
}

_peerlane_interfaces()
{
	local path

	for path in /sys/class/net/*; do
		[[ -e $path ]] && printf '%s\n' "${path##*/}"
	done
}

# Values of a key of all flows that there are.
_peerlane_flow_values()
{
	peerlane -j flow list 2>/dev/null |
		grep -oE "\"($1)\":(\"[^\" \\]+\"|[0-9]+)" | cut -d: -f2- |
		tr -d '"' | sort -u
}

_peerlane_counters()
{
	printf '%s\n' packets bytes ect ce cnp fecn becn nak-sequence nak-other \
		rnr retransmitted retransmitted-bytes gaps lost reordered \
		timeouts rate-bytes rate-packets rtt-max
}

# What may follow a filter's name; nothing if it is none that has a value.
_peerlane_flow_value()
{
	case $1 in
	src) _peerlane_flow_values saddr ;;
	dst) _peerlane_flow_values daddr ;;
	address) _peerlane_flow_values 'saddr|daddr' ;;
	qpn) _peerlane_flow_values 'qpn|peer_qpn' ;;
	pid) _peerlane_flow_values pid ;;
	label) _peerlane_flow_values label ;;
	transport) printf '%s\n' rc uc rd ud xrc cnp ;;
	point) printf '%s\n' local-out local-in device ;;
	dev)
		_peerlane_interfaces
		_peerlane_ports | grep -v /
		;;
	min | by) _peerlane_counters ;;
	sort) echo by ;;
	top) printf '%s\n' 10 50 ;;
	interval) printf '%s\n' 1 2 10 ;;
	count) printf '%s\n' 1 10 ;;
	timeout) printf '%s\n' 10 60 ;;
	format) printf '%s\n' openmetrics prometheus ;;
	*) return 1 ;;
	esac
}

# Words that may follow "peerlane flow COMMAND": COMMAND PREVIOUS COUNT.
_peerlane_flow()
{
	local filters=(src dst address qpn transport dev point label min congested)

	case $1 in
	label)
		case $3 in
		0) printf '%s\n' set clear && return ;;
		1) [[ $2 == set ]] && return ;;
		esac
		[[ $2 != set ]] && _peerlane_flow_value "$2" && return
		printf '%s\n' "${filters[@]}" pid all
		;;
	observe)
		case $3 in
		0) printf '%s\n' local dev ;;
		1) [[ $2 == dev ]] && _peerlane_interfaces ;;&
		*) [[ $2 != dev ]] && printf '%s\n' on off ;;
		esac
		;;
	limit)
		((($3) % 2)) ||
			printf '%s\n' idle-timeout threshold-on threshold-off calm-windows
		;;
	list | show | watch | top | reset)
		_peerlane_flow_value "$2" && return
		printf '%s\n' "${filters[@]}"
		if [[ $1 == reset ]]; then echo all; else printf '%s\n' pid sort top; fi
		[[ $1 == watch || $1 == top ]] && printf '%s\n' interval count once
		;;
	esac
}

# The same for "peerlane metrics COMMAND".
_peerlane_metrics()
{
	if [[ $1 == textfile && $3 -eq 0 ]]; then
		compgen -f -- "$cur"
		return
	fi
	_peerlane_flow_value "$2" && return
	printf '%s\n' top by
	[[ $1 == serve ]] || echo format
	[[ $1 == textfile ]] && echo interval
}

# What may follow an object and a command, or an object that has none.
_peerlane_after()
{
	local object=$1 command=$2 previous=$4 count=$3

	case $object in
	flow) _peerlane_flow "$command" "$previous" "$count" ;;
	metrics) _peerlane_metrics "$command" "$previous" "$count" ;;
	*) _peerlane_arguments "$object" "$command" "$count" "$previous" ;;
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

	if [[ ${typed[0]} == bench && ${typed[1]} == allreduce ]]; then
		choices=$(_peerlane_allreduce "$prev")
	elif [[ ${typed[0]} == aggregator ]]; then
		choices=$(_peerlane_aggregator "$prev")
	elif [[ ${typed[0]} == bench && ${#typed[@]} -gt 1 ]]; then
		choices=$(_peerlane_bench "$prev")
	elif [[ $cur == -* ]]; then
		choices="-json -pretty -human -Numeric -color -Version -help"
	elif ((${#typed[@]} == 0)); then
		choices=$(peerlane --list-cmds 2>/dev/null | cut -d' ' -f1 | uniq)
	elif [[ ${typed[0]} == doctor ]]; then
		choices=$(_peerlane_doctor "$prev")
	elif [[ ${typed[0]} == why ]]; then
		choices=$(_peerlane_why "$prev" $((${#typed[@]} - 1)))
	elif [[ ${typed[0]} == events ]]; then
		choices=$(_peerlane_flow_value "$prev" ||
			printf '%s\n' current count timeout help)
	elif ((${#typed[@]} == 1)); then
		choices=$(peerlane --list-cmds 2>/dev/null |
			sed -n "s/^${typed[0]//[^a-z]/} //p")
	else
		choices=$(_peerlane_after "${typed[0]}" "${typed[1]}" \
			$((${#typed[@]} - 2)) "$prev")
	fi

	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
	if declare -F __ltrim_colon_completions >/dev/null; then
		__ltrim_colon_completions "$cur"
	fi
}

complete -F _peerlane peerlane
