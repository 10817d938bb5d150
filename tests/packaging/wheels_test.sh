#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheels_test.sh BUILD_DIR TENSORFLOW SCRATCH: the wheels of make_wheels.sh, in a fresh environment of each Python from 3.9 to 3.13 that
# this machine has: pip installs them without an index, the tools and Python run a model, and pip removes all of it. In the oldest and
# the newest one the tools compile that model; in the oldest one find_package(tfaot) builds a plugin. Exit code 77, with the reason, if
# no Python has numpy in the cache.
set -euo pipefail
build_dir=$1
tensorflow=$2
scratch=$3
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
fail() {
  echo "error: $*" >&2
  exit 1
}
pythons=$(bash "$source_dir/packaging/pythons.sh" --no-fetch)
[[ -n $pythons ]] || {
  echo "skipped: numpy is not there for any Python; packaging/pythons.sh fetches it"
  exit 77
}
rm -rf "$scratch"
mkdir -p "$scratch/home" "$scratch/again"
cd "$scratch"

cpack --config "$build_dir/CPackConfig.cmake" -G TGZ -B packages
TFAOT_TENSORFLOW_ROOT=$tensorflow bash "$source_dir/packaging/make_wheels.sh" --fast packages/tfaot-*.tar.gz wheels
wheels=(wheels/tfaot-*-py3-none-manylinux_2_*_x86_64.whl wheels/tfaot_compiler-*-py3-none-manylinux_2_17_x86_64.whl)
[[ $(ls wheels) == $(basename -a "${wheels[@]}") ]] || fail "these wheels were made: $(ls wheels)"
# With libxml2 and its Unicode tables it would have 28 MB.
(($(stat -c %s "${wheels[0]}") < 20000000)) || fail "the wheel of the tools has $(stat -c %s "${wheels[0]}") bytes"
for wheel in "${wheels[@]}"; do /usr/bin/python3 -m wheel unpack --dest unpacked "$wheel"; done # checks each hash of RECORD
tree=$(echo unpacked/tfaot-[0-9]*/*.data/data)
if grep -rIlF -e "$source_dir" -e "$build_dir" -e "$tensorflow" unpacked; then fail "these files name folders of this machine"; fi
mkdir twice
tar xzf packages/tfaot-*.tar.gz -C twice
/usr/bin/python3 "$source_dir/packaging/make_wheels.py" tools twice/tfaot-* again
cmp "${wheels[0]}" again/*.whl || fail "the same files give another wheel"
[[ -f $tree/lib/cmake/tfaot/tfaotConfig.cmake ]] || fail "the wheel has no CMake package"
rm -rf unpacked twice again

as_user() {
  env -i PATH="$scratch/environment/bin:/usr/local/bin:/usr/bin:/bin" HOME="$scratch/home" LANG=C.UTF-8 "$@"
}
pip() { as_user pip --disable-pip-version-check --quiet "$@"; }
install() { pip install --no-index --find-links wheels --find-links "$numpy/wheels" "$@"; }
examples="$scratch/environment/share/doc/tfaot/examples"
tested=0
newest=$(tail -n 1 <<<"$pythons" | cut -d'|' -f1)

while IFS='|' read -r version python numpy <&3; do
  printf '\n== Python %s\n' "$version"
  rm -rf environment
  "$python" -m venv environment
  install tfaot
  [[ $(head -c 4 environment/bin/tfaot) == $'\x7fELF' ]] || fail "bin/tfaot is not a program"

  if ((tested == 0)) || [[ $version == "$newest" ]]; then
    code=0
    as_user tfaot compile -c "$examples/minimal/aot_config.yaml" -o out 2>message || code=$?
    if [[ $code != 1 ]] || ! grep -q 'pip install tfaot-compiler==' message; then
      fail "without tfaot-compiler, compile ends with code $code and says $(cat message)"
    fi
    install 'tfaot[compiler]'
    as_user tfaot compile -c "$examples/minimal/aot_config.yaml" -o out 2>message
    grep -q 'unpacking TensorFlow, once' message || fail "tfaot-compiler is not what was used: $(cat message)"
    as_user tfaot setup | grep -q '^nothing to fetch' || fail "tfaot setup does not find tfaot-compiler"
  fi
  pip check
  as_user tfaot run out --inputs ones --rows 2
  as_user python -c '
import numpy, tfaot
model = tfaot.Model("out")
for values in model(*[numpy.ones((2, *one.row_shape), one.dtype) for one in model.inputs]).values():
    print(values.tolist())'
  [[ $(as_user python -m tfaot --version) == $(as_user tfaot --version) ]] || fail "python -m tfaot is another tool"
  [[ $(as_user tfaot setup --python-path) == "$scratch/environment/lib/python$version/site-packages" ]] ||
    fail "tfaot setup --python-path says $(as_user tfaot setup --python-path)"

  if ((tested++ == 0)); then
    bash "$source_dir/tests/packaging/check_run_paths.sh" 20 environment/{bin,lib/tfaot,libexec}
    for program in environment/bin/tfaot* environment/libexec/tfaot/tfaot-* environment/lib/python*/site-packages/tfaot/lib*.so; do
      if LD_LIBRARY_PATH=$(echo environment/libexec/tfaot/tensorflow*/tensorflow) ldd "$program" | grep '=>' |
        grep -vF -e "$scratch/environment/" -e " environment/" |
        grep -vE '^[[:space:]]*(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so|linux-vdso)'; then
        fail "these libraries of $program are not in the wheel"
      fi
    done
    # The CMake of an active environment finds what is in it.
    as_user cmake -S "$examples/minimal" -B minimal -DCMAKE_BUILD_TYPE=Release
    as_user cmake --build minimal
    as_user minimal/minimal
    as_user bash "$examples/quickstart.sh" "$scratch/quick start"
  fi

  pip uninstall --yes tfaot tfaot-compiler
  left=$(find environment -path '*tfaot*' ! -type d) # pip leaves empty folders
  [[ -z $left ]] || fail "pip left $left"
done 3<<<"$pythons"
rm -rf environment
