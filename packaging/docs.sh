#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh [--setup-only | --no-fetch] [SITE]: builds the documentation site from README.md and docs/ into SITE (default:
# build/site). A link or an anchor that leads nowhere gives exit code 1. A pinned MkDocs is fetched once, into the cache;
# with --no-fetch the exit code is 77 if it is missing.
set -euo pipefail
fetch=true setup_only=false
case ${1:-} in
  --setup-only) setup_only=true; shift ;;
  --no-fetch) fetch=false; shift ;;
  -*) sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
site=${1:+$(realpath -m "$1")}
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
site=${site:-$source_dir/build/site}

requirements=packaging/site/requirements.txt
mkdocs=$(cache_folder)/mkdocs-$(hash_of "$requirements")
fill_mkdocs() { pip_install "$1" --requirement "$requirements"; }
if ! $fetch && [[ ! -d $mkdocs ]]; then
  echo "docs: MkDocs is not set up; 'bash packaging/docs.sh --setup-only' fetches it"
  exit 77
fi
cached "$mkdocs" fill_mkdocs
! $setup_only || exit 0

# The pages keep their places in the repository, so that links between them stay the same.
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
ln -s "$source_dir"/{*.md,docs} "$pages"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$mkdocs" TFAOT_PAGES="$pages" TFAOT_SOURCE="$source_dir"
# Not --quiet: that keeps --strict from counting warnings.
python3 -m mkdocs build --strict --clean --config-file packaging/site/mkdocs.yml --site-dir "$site"
echo "docs: $site/index.html"
