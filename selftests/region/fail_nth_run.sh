#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/run --kernel debug --bind --bars 2 --bar-size 64 --edu \
#	--allow-taint 9 -- selftests/region/fail_nth_run.sh [NAME...]
#
# Taint 9 is of bind, see there.
#
# Everything again and again, short of memory each time at another place; or
# only the programs named: region, map, host, bind, … See fail_nth.h for more.
set -euo pipefail

# shellcheck source=/dev/null
. "$RIG/env"

here=$TREE/selftests/region
driver=/sys/bus/pci/drivers/peerlane
kmemleak=/sys/kernel/debug/kmemleak
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Read from memory: what the file system allocates on the way is not the point.
cp "$RIG_MODULE" "$scratch/peerlane.ko"

# The second device, in the hands of a driver that lends it.
with_sample() {
	local function rc=0
	function=$(basename "$(realpath /sys/class/peerlane/gpu1/device)")
	echo "$function" >$driver/unbind
	insmod "$TREE/build/$(uname -r)/pl_sample.ko" "pci=$function" own_allocator=1
	"$@" || rc=$?
	# Fails if a region was left.
	rmmod pl_sample || rc=1
	echo "$function" >$driver/bind
	return "$rc"
}

program() {
	local name=fail_nth_$1_test
	local test=$TREE/build/selftests/region/$name
	case $1 in
	dmabuf) "$here/dmabuf_run.sh" pl_importer "$name" ;;
	import) "$here/dmabuf_run.sh" pl_exporter "$name" ;;
	link) "$here/dmabuf_run.sh" pl_link,pl_exporter "$name" ;;
	sample) with_sample "$test" ;;
	module) "$test" "$scratch/peerlane.ko" "$RIG_PARAMS" ;;
	*) "$test" ;;
	esac
}

# A checker that found no memory switches itself off, and then finds nothing.
leaks_are_looked_for() { [ ! -e $kmemleak ] || echo scan >$kmemleak; }

report() { # STATUS NUMBER NAME
	[ "$1" = 0 ] || { rc=1 && echo -n "not "; }
	echo "ok $2 - $3"
}

names=("$@")
# bind before module: see there what the kernel says once.
[ $# -gt 0 ] || names=(detector region map host dmabuf import link endpoint rdma sample bind module)
rc=0
number=0
echo "1..$((${#names[@]} + 1))"
for name in "${names[@]}"; do
	status=0
	program "$name" > >(sed 's/^/    /') 2>&1 || status=$?
	wait $!
	report "$status" $((number += 1)) "fail_nth_$name"
done
status=0
leaks_are_looked_for || status=1
report "$status" $((number += 1)) leaks_are_looked_for
exit "$rc"
