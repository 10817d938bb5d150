#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compile_as_first_build.sh FIRST SECOND LAUNCHER COMPILER ARGUMENT...: a compiler launcher. A source or a folder of headers
# below SECOND, a build folder, is replaced by that of the same name below FIRST if both hold the same, byte by byte. So a
# launcher that remembers what it compiled, such as ccache, finds all that the first build compiled by the same command.
set -euo pipefail
first=$1 second=$2 command=()
shift 2

# is_same FILE_OR_FOLDER: each source or header of the second build is in the first, with the same contents.
is_same() {
  local file
  [[ -e $first/$1 ]] || return 1
  while IFS= read -r -d '' file; do
    cmp --silent "$file" "$first/${file#"$second/"}" || return 1
  done < <(find "$second/$1" \( -name '*.h' -o -name '*.cc' -o -name '*.cxx' \) -type f -print0)
}
for argument; do
  option=""
  [[ $argument == -I* ]] && option=-I
  path=${argument#"$option"}
  if [[ $path == "$second"/* ]] && is_same "${path#"$second/"}"; then argument=$option$first/${path#"$second/"}; fi
  command+=("$argument")
done
exec "${command[@]}"
