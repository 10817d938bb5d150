# SPDX-License-Identifier: Apache-2.0
# For aarch64 on another machine: packages made by the tool and by CMake, plugins of a cross compiler, run by qemu.
set(target -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "-DCMAKE_CXX_COMPILER=${CASE_AARCH64_LINUX_GNU_G__}")
execute_process(COMMAND "${CASE_AARCH64_LINUX_GNU_G__}" -print-sysroot OUTPUT_VARIABLE sysroot OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT sysroot OR sysroot STREQUAL "/")
  set(sysroot /usr/aarch64-linux-gnu)  # Debian's compiler finds it by itself, qemu does not
endif()

# case_on(<qemu's name of the CPU> [FAIL <text>] [LEVEL <TFAOT_CPU_LEVEL>] COMMAND <program in the build folder> <argument>...)
function(case_on cpu)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FAIL;LEVEL" "COMMAND")
  case_execute("${arg_COMMAND} on ${cpu}" FAIL "${arg_FAIL}" IN "${CASE_BINARY}/build" COMMAND
    "${CMAKE_COMMAND}" -E env "TFAOT_CPU_LEVEL=${arg_LEVEL}" "${CASE_QEMU_AARCH64}" -L "${sysroot}" -cpu ${cpu} ${arg_COMMAND})
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# A project that compiles its models: host's tools, target's runtime.
case_configure(SOURCE "${CASE_TOOLKIT}/examples/multi_model" OPTIONS ${target})
case_build()
case_on(cortex-a57 COMMAND ./load_analysis ./analysis.so)
foreach(api IN ITEMS native compatible)
  case_expect_predictions(${api}_jet_tagger multi_model/jet_tagger 1)
  case_expect_predictions(${api}_calibrator multi_model/calibrator 3)
endforeach()

# A package for more CPUs than one, for projects that know nothing of tfaot.
file(REMOVE_RECURSE "${CASE_BINARY}/build")
case_execute("compile" COMMAND "${CASE_PREFIX}/bin/tfaot" compile --target-triple aarch64-unknown-linux-gnu
             --cpu-levels generic,neoverse-n1 -c "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml" -o "${CASE_BINARY}/tree")
case_expect("will not run here")
case_execute("package" COMMAND "${CASE_PREFIX}/bin/tfaot" package "${CASE_BINARY}/tree" -o "${CASE_BINARY}" --quiet)
case_execute("install" COMMAND "${CASE_PREFIX}/bin/tfaot" install "${CASE_BINARY}/tfaot-model-minimal-1.0.0-aarch64-linux.tar.zst"
             --release-area "${CASE_BINARY}/area")
set(toolkit "${CASE_PREFIX}")
set(CASE_PREFIX "${CASE_BINARY}/area")
case_configure(SOURCE "${CASE_TOOLKIT}/examples/plugin" OPTIONS ${target})
case_build()
foreach(cpu IN ITEMS cortex-a57 neoverse-n1)
  case_on(${cpu} COMMAND ./load_plugin ./plugin.so)
  case_expect_predictions(plugin minimal 2)
endforeach()
case_on(neoverse-n1 LEVEL neoverse-n1 COMMAND ./load_plugin ./plugin.so)
case_on(cortex-a57 LEVEL neoverse-n1 COMMAND ./load_plugin ./plugin.so FAIL
        "'neoverse-n1' needs dotprod, fullfp16, lse, rcpc, rdm, which this CPU lacks")

# tfaot-tfcompile, as scram calls it on that machine.
file(COPY "${CASE_TOOLKIT}/tests/e2e/models/works/frozen_unshaped/frozen_graph.pb" DESTINATION "${CASE_BINARY}/build")
file(WRITE "${CASE_BINARY}/build/mynet.config.pbtxt" "feed { id { node_name: \"x\" } shape { dim { size: 2 } dim { size: 3 } } }
fetch { id { node_name: \"out/y\" } }\n")
case_execute("tfcompile" IN "${CASE_BINARY}/build" COMMAND "${toolkit}/bin/tfaot-tfcompile" --target_features=+neon
             --graph=frozen_graph.pb --config=mynet.config.pbtxt --entry_point=__tensorflow_mynet --cpp_class=mynet
             --target_triple=aarch64-linux-gnu --out_header=mynet/header.h --out_metadata_object=m.o --out_function_object=f.o)
case_execute("user" IN "${CASE_BINARY}/build" COMMAND "${CASE_AARCH64_LINUX_GNU_G__}" -std=c++17 -I.
             "${CASE_TOOLKIT}/tests/cmake/tfcompile/user.cc" "${CASE_TOOLKIT}/tests/cmake/tfcompile/library.cc" m.o f.o -o user)
case_on(cortex-a57 COMMAND ./user)
foreach(label IN ITEMS library user)
  case_expect_predictions(${label} ../tests/e2e/models/works/frozen_unshaped 2)
endforeach()

# A machine whose runtime was not built.
file(REMOVE_RECURSE "${CASE_BINARY}/build")
set(CASE_PREFIX "${toolkit}")
list(TRANSFORM target REPLACE "PROCESSOR=aarch64" "PROCESSOR=riscv64")
case_configure(SOURCE "${CASE_TOOLKIT}/examples/minimal" OPTIONS ${target} FAIL "this tfaot has no runtime for riscv64")
case_expect("-DTFAOT_RUNTIME_TARGETS=riscv64")
