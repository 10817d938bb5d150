#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch_tensorflow.sh, with stand-ins for pip and df on PATH: no network, no 230 MB. Exit code 1 and the reason on failure.
set -euo pipefail
script=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)/packaging/fetch_tensorflow.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$(command -v python3)

# As tfaot installs it: two files in their own folder.
mkdir "$work/share"
cp "$script" "${script%/*}/tensorflow_wheel.txt" "$work/share"
script="$work/share/${script##*/}"

# make_root FOLDER [VERSION]: the files that check_root expects.
make_root() {
  local number names=(MAJOR MINOR PATCH) numbers i
  IFS=. read -ra numbers <<<"${2:-2.18.1}"
  mkdir -p "$1/include/tensorflow/core/public" "$1/xla_aot_runtime_src"
  touch "$1/libtensorflow_cc.so.2" "$1/libtensorflow_framework.so.2" "$1/xla_aot_runtime_src/a.cc"
  for i in 0 1 2; do
    number=${numbers[i]}
    echo "#define TF_${names[i]}_VERSION $number"
  done >"$1/include/tensorflow/core/public/version.h"
}

mkdir "$work/bin" "$work/wheel"
make_root "$work/wheel/tensorflow"
touch "$work/wheel/tensorflow/not_needed.py"
(cd "$work/wheel" && "$python" -m zipfile -c ../made.whl tensorflow)

cat >"$work/bin/python3" <<FAKE
#!/usr/bin/env bash
[[ \$1 == -m ]] || exec "$python" "\$@"
case \$FAKE_PIP in missing) exit 1 ;; esac
[[ \$3 == download ]] || exit 0
echo called >>"$work/pip_calls"
while ((\$#)); do [[ \$1 == --dest ]] && dest=\$2; shift; done
case \$FAKE_PIP in
  ok) cp "$work/made.whl" "\$dest" ;;
  cut) head -c 100 "$work/made.whl" >"\$dest/made.whl" ;;
  offline) echo 'ERROR: No matching distribution found for tensorflow-cpu==2.18.1'; exit 1 ;;
  other_wheel) echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.'; exit 1 ;;
  disk_full) echo 'ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device'; exit 1 ;;
esac
FAKE
# shellcheck disable=SC2016 # expanded by the stand-in
printf '#!/bin/sh\necho "Filesystem 1024-blocks Used Available"\necho "disk 0 0 $FAKE_FREE_KB"\n' >"$work/bin/df"
chmod +x "$work/bin/"*

# fetch SETTING=VALUE...: runs the script; leaves $code, $out and $err.
fetch() {
  code=0
  env -u TFAOT_TENSORFLOW_ROOT PATH="$work/bin:$PATH" TFAOT_CACHE_DIR="$cache" FAKE_PIP=ok FAKE_FREE_KB=9999999 "$@" \
    bash "$script" >"$work/out" 2>"$work/err" || code=$?
  out=$(cat "$work/out")
  err=$(grep -v -e '^ERROR: ' -e ': fetching ' -e ': unpacking ' "$work/err" || true)
}

failed=0
expect() { # WHAT ACTUAL EXPECTED
  if [[ $2 != "$3" ]]; then
    printf '%s: %s is\n%s\nand should be\n%s\n' "$name" "$1" "$2" "$3"
    failed=1
  fi
}
begin() {
  name=$1
  cache="$work/ca che $1"
  rm -f "$work/pip_calls"
}
expect_refusal() { # TEXT, and nothing left in the cache
  expect "exit code" "$code" 1
  expect stdout "$out" ""
  expect stderr "$err" "$1"
  expect "the cache" "$(ls -A "$cache" 2>/dev/null)" .lock
}
folder=tensorflow-cpu-2.18.1-810c75d7

begin fetches_once
fetch
expect "exit code" "$code" 0
expect "last line" "$(tail -n 1 <<<"$out")" "$cache/$folder/tensorflow"
expect "the cache" "$(ls -A "$cache")" ".lock
$folder"
expect "what is kept" "$(ls "$cache/$folder/tensorflow")" "include
libtensorflow_cc.so.2
libtensorflow_framework.so.2
xla_aot_runtime_src"
fetch FAKE_PIP=offline
expect "second stdout" "$out" "$cache/$folder/tensorflow"
expect "number of downloads" "$(wc -l <"$work/pip_calls")" 1

begin refuses_damaged_cache
fetch
rm "$cache/$folder/tensorflow/libtensorflow_cc.so.2"
fetch
expect "exit code" "$code" 1
expect stderr "$err" "fetch_tensorflow: error: the cache $cache/$folder is damaged: it has no libtensorflow_cc.so.2
  Remove that folder and run this again."

begin two_at_once
for i in 1 2; do
  (fetch && echo "$code" >"$work/code$i") &
done
wait
expect "exit codes" "$(cat "$work/code1" "$work/code2")" "0
0"
expect "number of downloads" "$(wc -l <"$work/pip_calls")" 1

begin removes_what_a_kill_left
mkdir -p "$cache/.staging.abc/kept"
fetch
expect "the cache" "$(ls -A "$cache")" ".lock
$folder"

begin offline
fetch FAKE_PIP=offline
expect_refusal "fetch_tensorflow: error: pip could not fetch tensorflow-cpu 2.18.1; it says why above
  Check the network and pip's settings (pip config list), then run this again.
  Without a network: unpack that wheel elsewhere and set TFAOT_TENSORFLOW_ROOT to its 'tensorflow' folder,
  or put the wheel's file in a folder and set PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER."

begin other_wheel
fetch FAKE_PIP=other_wheel
expect_refusal "fetch_tensorflow: error: the wheel that pip found is not the pinned one (its SHA-256 differs)
  Your package index serves another file: check pip's settings (pip config list). Nothing was kept."

begin disk_fills_up
fetch FAKE_PIP=disk_full
expect_refusal "fetch_tensorflow: error: the disk of $cache is full
  Free 1200 MB, or set TFAOT_CACHE_DIR to a folder on a larger disk."

begin small_disk
fetch FAKE_FREE_KB=102400
expect_refusal "fetch_tensorflow: error: $cache has 100 MB free, but 1200 MB are needed
  Free some, or set TFAOT_CACHE_DIR to a folder on a larger disk."

begin no_pip
fetch FAKE_PIP=missing
expect_refusal "fetch_tensorflow: error: python3 has no pip, which fetches the wheel
  Install it: apt-get install python3-pip
  Or unpack the wheel tensorflow-cpu 2.18.1 elsewhere and set TFAOT_TENSORFLOW_ROOT to its 'tensorflow' folder."

begin cut_wheel
fetch FAKE_PIP=cut
expect_refusal "made.whl: File is not a zip file
fetch_tensorflow: error: could not unpack the wheel; the reason is above
  Free 1200 MB on the disk of $cache, or set TFAOT_CACHE_DIR to a folder on a larger disk."

begin takes_an_existing_root
make_root "$work/given root"
fetch TFAOT_TENSORFLOW_ROOT="$work/given root"
expect stdout "$out" "$work/given root"

begin refuses_another_version
make_root "$work/older" 2.16.2
fetch TFAOT_TENSORFLOW_ROOT="$work/older"
expect "exit code" "$code" 1
expect stderr "$err" "fetch_tensorflow: error: TFAOT_TENSORFLOW_ROOT=$work/older cannot be used: it has version 2.16.2, but 2.18.1 is needed
  Name the 'tensorflow' folder of an unpacked tensorflow-cpu 2.18.1 wheel, or unset it to have one fetched."

exit "$failed"
