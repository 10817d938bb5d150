# SPDX-License-Identifier: Apache-2.0
include_guard()

# Warnings for our own code; errors with TFAOT_WARNINGS_AS_ERRORS.
function(tfaot_target_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
    -Wold-style-cast -Wcast-qual -Wimplicit-fallthrough
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # g++ 12 warns of "text" + std::string (GCC bug 105329)
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>  # as g++, whose -Wconversion has it not in C++
    $<$<BOOL:${TFAOT_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()
