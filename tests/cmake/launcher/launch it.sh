#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# launch it.sh WHO PROGRAM ARGUMENT...: runs the program, and notes WHO, and whether it ran beside another one and can reach
# make's job server.
work=${0%/*}
work=${LAUNCHED:-$work}
who=$1
shift
mkdir "$work/running" 2>/dev/null || who="$who, beside another"
server=${MAKEFLAGS##*--jobserver-auth=}
case $server in
  [0-9]*,*) [ -p "/proc/self/fd/${server%%,*}" ] && who="$who, with make" ;;
  fifo:*) who="$who, with make" ;;
esac
echo "$who" >>"$work/launched"
"$@"
status=$?
rmdir "$work/running" 2>/dev/null
exit $status
