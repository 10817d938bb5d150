#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh builds the site of this tree without errors, and each kind of dead link gives exit code 1 and the reason. Exit code 77,
# with the reason, if MkDocs is not installed.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0
bash "$source_dir/packaging/docs.sh" --no-fetch "$work/si te" >"$work/out" 2>&1 || code=$?
cat "$work/out"
((code == 0)) || exit "$code"
failed=0
for file in index.html docs/cli.html CONTRIBUTING.html search/search_index.json; do
  [[ -s $work/si\ te/$file ]] || { echo "the site has no $file" && failed=1; }
done

grep -qF 'SHARED|STATIC' "$work/si te/index.html" || { echo "code in a table shows a backslash before '|'" && failed=1; }

# expect_dead TEXT REASON: the site of this tree with TEXT at the end of docs/cli.md.
expect_dead() {
  local tree="$work/tree" code=0
  rm -rf "$tree"
  mkdir -p "$tree"
  ln -s "$source_dir"/* "$tree"
  rm "$tree/docs" "$tree/packaging"
  cp -r "$source_dir/docs" "$source_dir/packaging" "$tree"
  printf '\n%s\n' "$1" >>"$tree/docs/cli.md"
  bash "$tree/packaging/docs.sh" --no-fetch "$work/dead" >"$work/out" 2>&1 || code=$?
  if [[ $code != 1 ]] || ! grep -qF -- "$2" "$work/out"; then
    printf '%s: ended with code %d and\n%s\nand should with 1 and\n%s\n' "$1" "$code" "$(cat "$work/out")" "$2"
    failed=1
  fi
}
expect_dead '[page](gone.md)' "contains a link 'gone.md', but the target 'docs/gone.md' is not found"
expect_dead '[page](config.md#gone)' "contains a link 'config.md#gone', but the doc 'docs/config.md' does not contain an anchor '#gone'"
expect_dead '[page](#gone)' "contains a link '#gone', but there is no such anchor on this page"
expect_dead '[source](../modules/gone.cc)' "contains a link '../modules/gone.cc', but the target 'modules/gone.cc' is not found"
expect_dead '[folder](../examples/gone)' "contains an unrecognized relative link '../examples/gone'"
exit "$failed"
