#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dmabuf_run.sh MODULE[,MODULE...] TEST...: tests that need modules beside
# peerlane.ko.
#
#   selftests/vm/run --bind --edu -- selftests/region/dmabuf_run.sh pl_importer dmabuf_attach_test
#   selftests/vm/run --bind -- selftests/region/dmabuf_run.sh pl_exporter import_test
set -euo pipefail

folder=$TREE/build/$(uname -r)
loaded=()

# load MODULE: and what it needs first, ours or the kernel's.
load() {
	local needs need
	[ ! -d "/sys/module/$1" ] || return 0
	if [ ! -e "$folder/$1.ko" ]; then
		modprobe "$1"
		return
	fi
	needs=$(modinfo -F depends "$folder/$1.ko")
	for need in ${needs//,/ }; do load "$need"; done
	insmod "$folder/$1.ko"
	loaded=("$1" "${loaded[@]}")
}

for module in ${1//,/ }; do load "$module"; done
shift
rc=0
"$TREE/selftests/unit/run" "${@/#/"$TREE/build/selftests/region/"}" || rc=$?
# Fails if a test left something that holds it.
[ "${#loaded[@]}" -eq 0 ] || rmmod "${loaded[@]}"
exit "$rc"
