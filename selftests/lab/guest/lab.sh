# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lab_call SECONDS VERB [ARG...]: as host_call, but the supervisor answers.

lab_guest=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=../../vm/guest/call.sh
. "$lab_guest/../../vm/guest/call.sh"

lab_call() { RIG=/run/lab RIG_PORT=/run/lab/port host_call "$@"; }
