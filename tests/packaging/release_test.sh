#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release_test.sh BUILD_DIR TENSORFLOW SCRATCH: the packages that CPack makes from a build. The tarball works after it was moved, with
# only the C and C++ libraries of this machine; the .deb depends on the packages of its libraries. packaging/check_release.sh tries
# both in a bare root.
set -euo pipefail
build_dir=$1
tensorflow=$2
scratch=$3
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
fail() {
  echo "error: $*" >&2
  exit 1
}
rm -rf "$scratch"
mkdir -p "$scratch/home"
cd "$scratch"

cpack --config "$build_dir/CPackConfig.cmake" -G TGZ -B "$scratch/packages"
mkdir "first place"
tar xzf packages/tfaot-*.tar.gz -C "first place"
mv "first place"/tfaot-* "second place"
prefix="$scratch/second place"

[[ -z $(find "$prefix" -name 'libtensorflow*') ]] || fail "TensorFlow is in the tarball"
if grep -rIlF -e "$source_dir" -e "$build_dir" -e "$tensorflow" "$prefix"; then
  fail "these files name folders of this machine"
fi
for program in "$prefix"/bin/tfaot* "$prefix"/libexec/tfaot/tfaot-* "$prefix"/lib*/tfaot/python/tfaot/lib*.so; do
  readelf -d "$program" | grep -E 'R(UN)?PATH' | grep -qvF -e "$build_dir" -e "$tensorflow" || fail "the run path of $program"
  if LD_LIBRARY_PATH=$tensorflow ldd "$program" | grep '=>' | grep -vF -e "$prefix/" -e "$tensorflow/" |
    grep -vE '^[[:space:]]*(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so|linux-vdso)'; then
    fail "these libraries of $program are not in the tarball"
  fi
done
bash "$source_dir/tests/packaging/check_run_paths.sh" 12 "$prefix"
licences=$(find "$prefix/share/doc/tfaot/libraries" -name '*.copyright' | wc -l)
((licences > 5)) || fail "there are $licences licences of libraries"

# Like a new user with an empty cache.
as_user() {
  env -i PATH="$prefix/bin:/usr/local/bin:/usr/bin:/bin" HOME="$scratch/home" LANG=C.UTF-8 "$@"
}
examples="$prefix/share/doc/tfaot/examples"
code=0
as_user tfaot compile -c "$examples/minimal/aot_config.yaml" -o out 2>message || code=$?
if [[ $code != 1 ]] || ! grep -q '^  get it: pip install tfaot-compiler==.* where tfaot came by pip, else: tfaot setup$' message; then
  fail "without TensorFlow, compile ends with code $code and says $(cat message)"
fi
cache=$(cd "$tensorflow/../.." && pwd -P)
if [[ $cache/$(sed -n 's/^folder=//p' "$source_dir/packaging/tensorflow_wheel.txt")/tensorflow -ef $tensorflow ]]; then
  place="TFAOT_CACHE_DIR=$cache"
else
  place="TFAOT_TENSORFLOW_ROOT=$tensorflow"
fi
as_user "$place" tfaot setup | grep -q '^nothing to fetch' || fail "tfaot setup does not find $place"
as_user "$place" bash "$examples/quickstart.sh" "$scratch/quick start"
as_user "$place" tfaot run "$scratch/quick start/area/minimal" --inputs random --rows 3
as_user "$place" PYTHONPATH="$(as_user tfaot setup --python-path)" /usr/bin/python3 -c '
import sys, numpy, tfaot
model = tfaot.Model(sys.argv[1])
model(*[numpy.zeros((3, *one.row_shape), one.dtype) for one in model.inputs])' "$scratch/quick start/area/minimal"
as_user "$place" cmake -S "$examples/minimal" -B minimal -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$prefix"
as_user "$place" cmake --build minimal
as_user minimal/minimal

command -v dpkg-shlibdeps >/dev/null || exit 0
cpack --config "$build_dir/CPackConfig.cmake" -G DEB -B "$scratch/packages"
needs=$(dpkg-deb --field packages/tfaot_*.deb Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//')
for name in libc6 libstdc++6 libarchive13 libyaml-cpp0.7 libssl3 python3-pip; do
  grep -qxF "$name" <<<"$needs" || fail "the .deb does not need $name, but $(tr '\n' ' ' <<<"$needs")"
done
[[ $(dpkg-deb --field packages/tfaot_*.deb Recommends) == binutils ]] || fail "the .deb does not recommend binutils"
dpkg-deb --fsys-tarfile packages/tfaot_*.deb | tar x -C "first place"
bash "$source_dir/tests/packaging/check_run_paths.sh" 8 "first place"
grep -q '_BASE" default="/usr"' "first place/usr/share/tfaot/tfaot-runtime.xml" || fail "the base of tfaot-runtime.xml"
if grep -rIlF -e "$source_dir" -e "$build_dir" -e "$tensorflow" "first place"; then
  fail "these files name folders of this machine"
fi
