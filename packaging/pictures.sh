#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pictures.sh [BUILD_DIR]: makes the pictures of docs/reports.md, docs/inspect.md and docs/profile.md again, with the tools of
# BUILD_DIR (default: build/release), headless Chromium (Debian's chromium), graphviz and the example models.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build_dir=$(realpath -m "${1:-$source_dir/build/release}")
tfaot=$build_dir/bin/tfaot
[[ -x $tfaot ]] || { echo "pictures: there is no $tfaot; build first: cmake --build --preset release" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source_dir/examples/multi_model/jet_tagger" "$source_dir/tests/e2e/models/works/keras_saved" \
  "$source_dir/tests/e2e/models/refused/mean_of_batch" "$work"
cd "$work"
# What the pages say of paths is what is typed here.
"$tfaot" compile -q -c jet_tagger/aot_config.yaml -o jet_tagger_1 --batch-sizes 1,4,16,64 --cpu-levels x86-64,x86-64-v3
"$tfaot" compile -q -c jet_tagger/aot_config.yaml -o jet_tagger_2 --batch-sizes 1,8,64 --cpu-levels x86-64-v3
"$tfaot" tune -q jet_tagger_1
"$tfaot" info jet_tagger_1 --html package.html >/dev/null
"$tfaot" info keras_saved/saved_model --html model.html >/dev/null
"$tfaot" check -q mean_of_batch/saved_model --html check.html >/dev/null 2>&1 || true  # it does not compile
"$tfaot" validate -q jet_tagger_1 --model jet_tagger/aot_config.yaml --html validation.html >/dev/null
"$tfaot" run jet_tagger_1 --inputs random --rows 1000 --html predictions.html >/dev/null
"$tfaot" diff jet_tagger_1 jet_tagger_2 --html difference.html >/dev/null
"$tfaot" inspect -q jet_tagger/aot_config.yaml --cpu-levels x86-64-v3 --html inspection.html >/dev/null
"$tfaot" profile -q jet_tagger/aot_config.yaml --batch-sizes 1,2,3,5,8,16,32,64,100 --strategies normal,stitching,padding --clock processor \
  --per-op --html profile.html >/dev/null
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$source_dir/tests/report"
python3 - "$source_dir/docs/images" <<'PYTHON'
import pathlib
import sys

from browser import Browser, find_browser

PICTURES = (  # name, page, width, height, scheme, the section to begin with
    ("report_package", "package", 1200, 860, "light", ""),
    ("report_times", "package", 1200, 860, "dark", "run-time"),
    ("report_model", "model", 1200, 1000, "light", ""),
    ("report_difference", "difference", 1200, 1000, "light", ""),
    ("inspect_page", "inspection", 1200, 1150, "light", ""),
    ("inspect_graph", "inspection", 1200, 900, "dark", "stages"),
    ("inspect_memory", "inspection", 1200, 560, "light", "memory"),
    ("report_check", "check", 1200, 1000, "light", ""),
    ("report_validation", "validation", 1200, 1000, "light", ""),
    ("report_predictions", "predictions", 1200, 1000, "light", ""),
    ("profile", "profile", 1200, 1130, "light", ""),
    ("report_phone", "package", 360, 720, "light", "sizes"),
)
program = find_browser() or sys.exit("pictures: Chromium is not installed; Debian's package is 'chromium'")
folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
with Browser(program) as browser:
    for name, page, width, height, scheme, section in PICTURES:
        browser.look(width, height, scheme)
        browser.open(f"{page}.html")
        browser.run(f"document.documentElement.style.scrollBehavior = 'auto'; location.hash = '{section}'")
        file = folder / f"{name}.png"
        browser.picture(file, whole=False)
        size = file.stat().st_size
        print(f"{file}: {size} bytes")
        if size > 150_000:
            sys.exit(f"{file} is too large for the repository")
PYTHON
