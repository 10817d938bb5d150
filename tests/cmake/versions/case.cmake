# SPDX-License-Identifier: Apache-2.0
# find_package() with a version, where a release area has several: the current one if it serves the request, else the newest that
# does.
set(tool "${CASE_PREFIX}/bin/tfaot")
set(area "${CASE_BINARY}/area/tfaot-model-minimal")
file(READ "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml" text)
foreach(version IN ITEMS 1.0.0 1.10.0 1.4.2 3.0.0-rc1 2.0.0)
  string(REPLACE "1.0.0" "${version}" config "${text}")
  string(REPLACE "./saved_model" "${CASE_TOOLKIT}/examples/minimal/saved_model" config "${config}")
  file(WRITE "${CASE_BINARY}/aot_config.yaml" "${config}")
  case_execute("compile" COMMAND "${tool}" compile -c aot_config.yaml --batch-sizes 1 --cpu-levels x86-64 -o "tree-${version}" -q)
  case_execute("package" COMMAND "${tool}" package "tree-${version}" -o dist -q)
  case_execute("install" COMMAND "${tool}" install "dist/tfaot-model-minimal-${version}-x86_64-linux.tar.zst" --release-area area -q)
endforeach()
# No package: the area's other folders may be anything.
file(MAKE_DIRECTORY "${area}/notes/lib")

# expect_version(<wanted> <version>): empty for none
function(expect_version wanted version)
  set(CASE_PREFIX "${CASE_BINARY}/area")
  file(REMOVE_RECURSE "${CASE_BINARY}/build")
  case_configure(OPTIONS "-DWANTED=${wanted}")
  set(place "")
  if(version)
    set(place "${area}/${version}/include")
  endif()
  case_expect("found '${version}' in '${place}'.")
endfunction()
expect_version("" 2.0.0)
expect_version("2" 2.0.0)
expect_version("1.0" 1.10.0)
expect_version("1.5" 1.10.0)
expect_version("1.0.0 EXACT" 1.0.0)
expect_version("1.4.2 EXACT" 1.4.2)
expect_version("1.0...<1.10" 1.4.2)
expect_version("1.11" "")
expect_version("4" "")
case_execute("back" COMMAND "${tool}" install dist/tfaot-model-minimal-1.4.2-x86_64-linux.tar.zst --release-area area -q)
expect_version("1.0" 1.4.2)  # the current one serves it
expect_version("2.0" 2.0.0)

# A current version for another processor serves nobody here.
set(current "${area}/1.4.2/lib/cmake/tfaot-model-minimal/tfaot-model-minimal-config-version.cmake")
file(READ "${current}" text)
string(REGEX REPLACE "PROCESSOR STREQUAL \"[^\"]+\"" "PROCESSOR STREQUAL \"another\"" text "${text}")
file(WRITE "${current}" "${text}")
expect_version("" 3.0.0-rc1)
expect_version("1.0" 1.10.0)
