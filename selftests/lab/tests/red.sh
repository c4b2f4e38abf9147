#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Eight nodes, of which most do something wrong; see ../test.
set -uo pipefail

case $NODE in
1)
	# Waits for one who has left.
	echo "1..1"
	begin=$SECONDS
	barrier in-vain 100 && exit 1
	[ $((SECONDS - begin)) -lt 30 ] || exit 1
	echo "ok 1 - a barrier fails at once"
	;;
2) exit 3 ;;
3)
	echo "1..2"
	echo "ok 1 - and then no more"
	;;
4)
	echo "1..1"
	echo "not ok 1 - wrong result"
	;;
5)
	sleep 1000 &
	echo "background job of node 5"
	;;
6) kill -KILL $$ ;;
7)
	echo "1..1"
	echo "ok 1 - all is well here"
	;;
8)
	echo "1..1"
	printf 'ok 1 - without an end of line'
	;;
esac
