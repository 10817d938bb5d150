# SPDX-License-Identifier: Apache-2.0
# cmake -D OBJDUMP=.. -D LIBRARY=libtfaot_runtime.a -P baseline_instructions.cmake: what the runtime runs on every CPU holds no
# instruction that x86-64's first CPUs lack. The objects of higher levels say so in their names; those with AVX (x86-64-v3 and
# higher) must hold such instructions, or this test looks at nothing.
cmake_minimum_required(VERSION 3.20)
execute_process(COMMAND "${OBJDUMP}" -d --no-show-raw-insn --no-addresses "${LIBRARY}"
                OUTPUT_VARIABLE text RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "objdump failed: ${status}")
endif()
# Mnemonics, in lines "\t<mnemonic> <operands>": AVX and later begin with a v; then SSE3 to SSE4.2 and the integer ones of
# x86-64-v2 and -v3. tzcnt is left out: it runs as bsf where it is unknown, which compilers make use of.
set(sse "addsubp[sd]|haddp[sd]|hsubp[sd]|lddqu|movddup|movs[hl]dup|pshufb|palignr|pabs[bwd]|pmaddubsw|pmulhrsw|phadds?[wd]|phsubs?[wd]|psign[bwd]|p?blend[a-z]+|dpp[sd]|extractps|insertps|roundp?s?[sd]|pmov[sz]x[a-z]+|pmulld|pmuldq|pminsb|pminsd|pminu[wd]|pmaxsb|pmaxsd|pmaxu[wd]|ptest|pextr[bdq]|pinsr[bdq]|mpsadbw|packusdw|pcmpeqq|pcmpgtq|pcmp[ei]str[im]")
set(integer "crc32[a-z]?|popcnt[a-z]?|lzcnt[a-z]?|movbe[a-z]?|andn|bextr|bls[ir]|blsmsk|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|cmpxchg16b")
set(higher "\t(v[a-z0-9]+|${sse}|${integer})[ \n]")

string(REPLACE ";" "," text "${text}")
string(REGEX REPLACE "\n([^ \n]+\\.o): +file format" ";\\1:" objects "${text}")
set(base 0)
set(level 0)
foreach(object IN LISTS objects)
  if(NOT object MATCHES "^[^:]+\\.o:")
    continue()
  endif()
  string(REGEX MATCH "^[^:]+" name "${object}")
  string(REGEX MATCH "${higher}" found "${object}")
  if(name MATCHES "_v([0-9]+)\\.cc\\.o$")
    if(found STREQUAL "" AND CMAKE_MATCH_1 GREATER 2)
      message(FATAL_ERROR "${name} holds no instruction of a higher level")
    endif()
    math(EXPR level "${level} + 1")
  else()
    if(NOT found STREQUAL "")
      string(STRIP "${found}" found)
      message(SEND_ERROR "${name} holds the instruction ${found}")
    endif()
    math(EXPR base "${base} + 1")
  endif()
endforeach()
if(base LESS 11 OR level LESS 2)
  message(FATAL_ERROR "saw only ${base} objects of the lowest level and ${level} of higher ones")
endif()
message(STATUS "${base} objects of the lowest level, ${level} of higher ones")
