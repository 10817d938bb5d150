# SPDX-License-Identifier: Apache-2.0
# Makes two packages of the golden files, with stand-ins for the objects, in folders with blanks, and uses them through
# CMake and pkg-config.
# cmake -DCXX=.. -DAR=.. -DGENERATOR=.. -DGOLDEN=.. -DRUNTIME_INCLUDE=.. -DWORK=.. -P consume_packages.cmake
cmake_minimum_required(VERSION 3.20)
set(consume "${CMAKE_CURRENT_LIST_DIR}/consume")
file(REMOVE_RECURSE "${WORK}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "expected '${pattern}' in:\n${text}")
  endif()
endfunction()

# stand_in(<object> <definition>...)
function(stand_in object)
  list(TRANSFORM ARGN PREPEND -D)
  run("${CXX}" -std=c++17 -fPIC ${ARGN} -c "${consume}/stand_in.cc" -o "${object}")
endfunction()

# package(<folder> <golden case>): the generated files, the runtime's headers and a library with two kernels.
function(package folder case)
  file(COPY "${GOLDEN}/${case}/" DESTINATION "${folder}")
  file(REAL_PATH "${RUNTIME_INCLUDE}/tfaot/runtime" headers)  # the build tree has links
  file(COPY "${headers}" DESTINATION "${folder}/runtime/include/tfaot")
  stand_in("${folder}/lib/one.o" KERNEL=stand_in_kernel_one VALUE=1)
  stand_in("${folder}/lib/two.o" KERNEL=stand_in_kernel_two VALUE=100)
  file(MAKE_DIRECTORY "${folder}/runtime/lib")
  run("${AR}" rcs "${folder}/runtime/lib/libtfaot_runtime.a" "${folder}/lib/one.o" "${folder}/lib/two.o")
  file(REMOVE "${folder}/lib/one.o" "${folder}/lib/two.o")
endfunction()

set(simple "${WORK}/an area/tfaot-model-test/1.0.0")
package("${simple}" simple)
foreach(batch_size IN ITEMS 1 2 4)
  foreach(level IN ITEMS x86-64 x86-64-v3)
    string(REPLACE "-" "_" id "${level}")
    stand_in("${simple}/lib/test_bs${batch_size}_${level}.o"
             CODE=__tfaot_tfaot_model_test_bs${batch_size}_${id} KERNEL=stand_in_kernel_one)
  endforeach()
endforeach()
stand_in("${simple}/lib/test_weights.o" WEIGHTS=__tfaot_tfaot_model_test_weights)

set(mixed "${WORK}/mixed net")
package("${mixed}" mixed)
stand_in("${mixed}/lib/MixedNet_bs8_x86-64.o" CODE=__tfaot_cms_models_MixedNet_bs8_x86_64
         KERNEL=stand_in_kernel_two)
stand_in("${mixed}/lib/MixedNet_weights.o" WEIGHTS=__tfaot_tfaot_model_MixedNet_weights)

# As `tfaot install` lays it out: found by the area's links.
file(MAKE_DIRECTORY "${WORK}/an area/lib/cmake")
file(CREATE_LINK "1.0.0" "${WORK}/an area/tfaot-model-test/current" SYMBOLIC)
file(CREATE_LINK "../../tfaot-model-test/current/lib/cmake/tfaot-model-test"
     "${WORK}/an area/lib/cmake/tfaot-model-test" SYMBOLIC)

# CMake: an executable, a static and a shared library with two models.
set(build "${WORK}/build folder")
run("${CMAKE_COMMAND}" -S "${consume}" -B "${build}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_PREFIX_PATH=${WORK}/an area" "-Dtfaot-model-MixedNet_ROOT=${mixed}")
run("${CMAKE_COMMAND}" --build "${build}")
run("${build}/app")
expect("${output}" "^106 same 42\n$")

# pkg-config: with blanks the shell must read what pkg-config quoted, without them plain use will do.
find_program(pkg_config NAMES pkgconf pkg-config REQUIRED)
set(sources "${consume}/main.cc" "${consume}/second_unit.cc")
set(ENV{PKG_CONFIG_PATH} "${simple}/lib/pkgconfig:${mixed}/lib/pkgconfig")
set(script [[
  eval "\"\$1\" -std=c++17 \"\$2\" \"\$3\" -o \"\$4\" $("$5" --cflags --libs tfaot-model-test tfaot-model-MixedNet)"]])
run(sh -c "${script}" sh "${CXX}" ${sources} "${WORK}/by eval" "${pkg_config}")
run("${WORK}/by eval")
expect("${output}" "^106 same 42\n$")

set(script [["$5" --cflags --libs tfaot-model-test tfaot-model-MixedNet | xargs "$1" -std=c++17 "$2" "$3" -o "$4"]])
run(sh -c "${script}" sh "${CXX}" ${sources} "${WORK}/by xargs" "${pkg_config}")
run("${WORK}/by xargs")
expect("${output}" "^106 same 42\n$")

string(MD5 hash "${WORK}")
set(no_blanks "$ENV{TMPDIR}")
if(no_blanks STREQUAL "" OR no_blanks MATCHES " ")
  set(no_blanks "/tmp")
endif()
set(no_blanks "${no_blanks}/tfaot_consume_${hash}")
file(REMOVE_RECURSE "${no_blanks}")
file(COPY "${simple}/" DESTINATION "${no_blanks}/simple")
file(COPY "${mixed}/" DESTINATION "${no_blanks}/mixed")
set(ENV{PKG_CONFIG_PATH} "${no_blanks}/simple/lib/pkgconfig:${no_blanks}/mixed/lib/pkgconfig")
set(script [["$1" -std=c++17 "$2" "$3" -o "$4" $("$5" --cflags --libs tfaot-model-MixedNet tfaot-model-test)]])
run(sh -c "${script}" sh "${CXX}" ${sources} "${WORK}/plain" "${pkg_config}")
run("${WORK}/plain")
expect("${output}" "^106 same 42\n$")
file(REMOVE_RECURSE "${no_blanks}")

# find(<result> <cmake argument>...): the output of find_package() alone, without its line breaks.
function(find result)
  file(REMOVE_RECURSE "${WORK}/find")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${consume}/find_only" -B "${WORK}/find" -G "${GENERATOR}" ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  set(${result} "${code}: ${out}" PARENT_SCOPE)
endfunction()

set(prefix "-DCMAKE_PREFIX_PATH=${simple}")
foreach(request IN ITEMS 1 1.0 1.0.0 "1.0.0;EXACT" 0.5...1 1.0...<2)
  find(out "${prefix}" "-DREQUEST=${request}")
  if(request STREQUAL "0.5...1")  # another major version at the lower end
    expect("${out}" "^1: .*version: 1.0.0")
  else()
    expect("${out}" "^0: .*found 1.0.0")
  endif()
endforeach()
foreach(request IN ITEMS 0.9 1.1 2 "1.0.1;EXACT" 1.1...2)
  find(out "${prefix}" "-DREQUEST=${request}")
  expect("${out}" "^1: .*compatible with requested version.*version: 1.0.0")
endforeach()

find(out "${prefix}" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64)
expect("${out}" "^1: .*version: 1.0.0 .for x86_64.")

file(COPY "${simple}/" DESTINATION "${WORK}/copy")
find(out "${prefix}" "-DFIRST=${WORK}/copy")
expect("${out}" "^1: .*tfaot_model::test exists already, made from .*copy/include; one project can use one version")

foreach(file IN ITEMS lib/test_bs2_x86-64.o runtime/lib/libtfaot_runtime.a runtime/include/tfaot/runtime/model.h)
  file(RENAME "${simple}/${file}" "${WORK}/aside")
  find(out "${prefix}")
  file(RENAME "${WORK}/aside" "${simple}/${file}")
  expect("${out}" "^1: .*is damaged: ${file} is missing. Install it again.")
endforeach()
