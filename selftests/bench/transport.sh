# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# What Open MPI is held against a group with: the fastest transport that works here.
# Sourced.

# shellcheck source=../mpi/mpi_lib.sh
. "${BASH_SOURCE[0]%/*}/../mpi/mpi_lib.sh"

candidates=(tcp openib ucx)

# What Open MPI has for RoCE and what it always has.  The device's name has a
# port behind it for UCX only.
declare -A transports=(
	[tcp]='--mca pml ob1 --mca btl self,vader,tcp'
	[openib]="--mca pml ob1 --mca btl self,vader,openib --mca btl_openib_if_include $RDMA_DEV
		--mca btl_openib_allow_ib 1 --mca btl_openib_cpc_include rdmacm
		--mca btl_openib_gid_index $RDMA_GID"
	[ucx]="--mca pml ucx -x UCX_TLS=rc_v,self,sm -x UCX_NET_DEVICES=$RDMA_DEV:1
		-x UCX_IB_GID_INDEX=$RDMA_GID"
)

# alone NAME: median us of 4 KiB by that transport, without a group; or nothing
alone() {
	read -r -d '' -a transport <<<"${transports[$1]}"
	ranks 4
	if ! mpi_patience=150 plainly "$programs/pace" 4096 20; then
		tail -n 3 "$log" | sed "s/^/# $1: /" >&2
		return
	fi
	sed -n 's/^sample [^ ]*mpi //p' "$log" | sort -n | sed -n 10p
}

choose_transport() {
	local name us best=${candidates[0]} least=''
	[ ${#candidates[@]} -gt 1 ] || candidates=()
	for name in "${candidates[@]}"; do
		us=$(alone "$name")
		echo "# Open MPI by $name: ${us:-does not work} ${us:+us for 4 KiB, 4 ranks}"
		[ -n "$us" ] || continue
		[ -z "$least" ] || awk "BEGIN { exit !($us < $least) }" || continue
		best=$name
		least=$us
	done
	read -r -d '' -a transport <<<"${transports[$best]}"
	echo "progress Open MPI goes by $best"
}
