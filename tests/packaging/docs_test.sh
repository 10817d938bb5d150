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

# This tree with a dead link of each kind at the end of docs/cli.md.
tree="$work/tree"
mkdir -p "$tree"
ln -s "$source_dir"/* "$tree"
rm "$tree/docs" "$tree/packaging"
cp -r "$source_dir/docs" "$source_dir/packaging" "$tree"
reasons=()
# dead TEXT REASON
dead() {
  printf '\n%s\n' "$1" >>"$tree/docs/cli.md"
  reasons+=("$2")
}
dead '[page](gone.md)' "contains a link 'gone.md', but the target 'docs/gone.md' is not found"
dead '[page](config.md#gone)' "contains a link 'config.md#gone', but the doc 'docs/config.md' does not contain an anchor '#gone'"
dead '[page](#gone)' "contains a link '#gone', but there is no such anchor on this page"
dead '[source](../modules/gone.cc)' "contains a link '../modules/gone.cc', but the target 'modules/gone.cc' is not found"
dead '[folder](../examples/gone)' "contains an unrecognized relative link '../examples/gone'"
# Each of them alone would end it: it counts them.
reasons+=("Aborted with ${#reasons[@]} warnings in strict mode")
code=0
bash "$tree/packaging/docs.sh" --no-fetch "$work/dead" >"$work/out" 2>&1 || code=$?
[[ $code == 1 ]] || { echo "dead links: ended with code $code, not 1" && failed=1; }
for reason in "${reasons[@]}"; do
  grep -qF -- "$reason" "$work/out" || { printf 'not said: %s\n' "$reason" && failed=1; }
done
((failed == 0)) || cat "$work/out"
exit "$failed"
