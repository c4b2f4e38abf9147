#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dmabuf_run.sh MODULE TEST...: tests that need a module beside peerlane.ko.
#
#   selftests/vm/run --bind --edu -- selftests/region/dmabuf_run.sh pl_importer dmabuf_test
#   selftests/vm/run --bind -- selftests/region/dmabuf_run.sh pl_exporter import_test
set -euo pipefail

module=$1
shift
insmod "$TREE/build/$(uname -r)/$module.ko"
rc=0
for test in "$@"; do
	"$TREE/build/selftests/region/$test" || rc=$?
done
# Fails if a test left something that holds it.
rmmod "$module"
exit "$rc"
