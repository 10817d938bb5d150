#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_run_paths.sh LEAST FOLDER...: no program or library below the folders has the loader look in the current folder: no part of a
# run path is empty or relative, and no needed library is named by a relative path. Prints how many there are; an error if fewer than
# LEAST.
set -euo pipefail
least=$1
shift
# Objects and archives have no dynamic section, whatever their mode.
{ find "$@" -type f \( -perm -u+x -o -name '*.so' -o -name '*.so.*' \) -size +0 -print0 || true; } | # other tests remove files
  { LC_ALL=C xargs -0 -r readelf -dW /dev/null 2>/dev/null || true; } | # scripts are not ELF
  awk -v least="$least" '
    /^File: / { file = substr($0, 7) }
    /^Dynamic section / { ++count }
    / \((RPATH|RUNPATH|NEEDED)\) / {
      value = $0
      sub(/^[^[]*\[/, "", value)
      sub(/\]$/, "", value)
      if (/\(NEEDED\)/) {
        if (value ~ /\// && value !~ /^\//) bad(value)
        next
      }
      parts = split(value, part, ":")
      if (parts == 0) bad($0)
      for (i = 1; i <= parts; ++i) if (part[i] !~ /^(\/|\$ORIGIN(\/|$))/) { bad($0); break }
    }
    function bad(what) { print "error: " file ": " what > "/dev/stderr"; wrong = 1 }
    END {
      print count + 0 " programs and libraries"
      if (count < least) { print "error: at least " least " were expected" > "/dev/stderr"; wrong = 1 }
      exit wrong
    }'
