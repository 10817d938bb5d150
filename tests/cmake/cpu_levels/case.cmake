# SPDX-License-Identifier: Apache-2.0
# One package with code for many levels, run on CPUs that have some of them: those that qemu emulates (CASE_QEMU_X86_64).
case_configure()
case_build()

# case_on(<qemu's name of the CPU> [FAIL <text>] [LEVEL <TFAOT_CPU_LEVEL>] [ARGUMENT <level>])
function(case_on cpu)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FAIL;LEVEL;ARGUMENT" "")
  case_execute("${cpu}, ${ARGN}" FAIL "${arg_FAIL}" COMMAND
    "${CMAKE_COMMAND}" -E env "TFAOT_CPU_LEVEL=${arg_LEVEL}"
    "${CASE_QEMU_X86_64}" -cpu ${cpu} "${CASE_BINARY}/build/predict" ${arg_ARGUMENT})
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# The best available level is used, and it predicts correctly.
foreach(pair IN ITEMS Opteron_G1=x86-64 Nehalem=x86-64-v2 SandyBridge=x86-64-v2 Haswell=haswell)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 cpu)
  list(GET pair 1 level)
  case_on(${cpu})
  case_expect("level: ${level}\n")
  case_expect_predictions(model minimal 2)
endforeach()

# A forced level: a lower one runs; a higher one is an error that says why.
case_on(Haswell LEVEL x86-64-v2)
case_expect("level: x86-64-v2\n")
case_expect_predictions(model minimal 2)
case_on(Nehalem LEVEL x86-64-v3 FAIL "TFAOT_CPU_LEVEL=x86-64-v3, forced for model 'minimal', cannot run here: 'x86-64-v3' needs \
avx, avx2, bmi, bmi2, f16c, fma, lzcnt, movbe, which this CPU lacks; compiled levels: x86-64, x86-64-v2, x86-64-v3, haswell, \
x86-64-v4, znver4; this CPU can run: x86-64, x86-64-v2")
case_on(Haswell LEVEL znver4 FAIL "'znver4' needs avx512bf16,")

# The crashes that all this prevents do happen on these CPUs.
case_on(Nehalem ARGUMENT x86-64-v3 FAIL "Illegal instruction")
case_on(Haswell ARGUMENT x86-64-v4 FAIL "Illegal instruction")
