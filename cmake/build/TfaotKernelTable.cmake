# SPDX-License-Identifier: Apache-2.0
# Reads the tables of kernels.def, functions.def and levels.def. Sets
#   tfaot_kernels_f32, tfaot_kernels_f64   the names of the kernels of an element type
#   tfaot_kernel_levels_<architecture>     the suffixes of the levels with kernels
#   tfaot_kernel_options_<suffix>          compiler options of a level
#   tfaot_kernel_sizes_<suffix>            definitions for its kernels: bytes of a vector, vectors and rows of a tile
#   tfaot_kernel_symbols                   all symbols that libtfaot_runtime.a offers to code for x86_64: the kernels', the
#                                          functions and those of modules/kernels/xla/symbols.txt
set(abi "${PROJECT_SOURCE_DIR}/modules/kernels/abi/include/tfaot/kernels")
set(xla_symbols "${PROJECT_SOURCE_DIR}/modules/kernels/xla/symbols.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${abi}/kernels.def" "${abi}/functions.def" "${abi}/levels.def" "${xla_symbols}")

set(row "^TFAOT_KERNEL_ROW\\([A-Za-z0-9]+, ([a-z0-9_]+), TFAOT_(F32|F32_F64), ")
file(STRINGS "${abi}/kernels.def" rows REGEX "${row}")
set(tfaot_kernels_f32 "")
set(tfaot_kernels_f64 "")
foreach(line IN LISTS rows)
  string(REGEX MATCH "${row}" match "${line}")
  list(APPEND tfaot_kernels_f32 "${CMAKE_MATCH_1}")
  if(CMAKE_MATCH_2 STREQUAL "F32_F64")
    list(APPEND tfaot_kernels_f64 "${CMAKE_MATCH_1}")
  endif()
endforeach()

set(row "  ROW\\(x, \"[^\"]*\", ([a-z0-9_]+), \"([^\"]*)\",[^\"]*\"[^\"]*\", ([0-9]+), ([0-9]+), ([0-9]+),")
file(READ "${abi}/levels.def" text)
string(REGEX MATCHALL "#define TFAOT_LEVELS_OF_[a-z0-9_]+|${row}" rows "${text}")
foreach(line IN LISTS rows)
  if(line MATCHES "^#define TFAOT_LEVELS_OF_(.+)")
    set(architecture "${CMAKE_MATCH_1}")
    set(tfaot_kernel_levels_${architecture} "")
  elseif(line MATCHES "${row}")
    list(APPEND tfaot_kernel_levels_${architecture} "${CMAKE_MATCH_1}")
    set(tfaot_kernel_sizes_${CMAKE_MATCH_1}
      TFAOT_VECTOR_BYTES=${CMAKE_MATCH_3} TFAOT_TILE_SUMS=${CMAKE_MATCH_4} TFAOT_TILE_ROWS=${CMAKE_MATCH_5})
    separate_arguments(tfaot_kernel_options_${CMAKE_MATCH_1} UNIX_COMMAND "${CMAKE_MATCH_2}")
  endif()
endforeach()

file(STRINGS "${xla_symbols}" tfaot_kernel_symbols)
foreach(type IN ITEMS f32 f64)
  foreach(kernel IN LISTS tfaot_kernels_${type})
    foreach(level IN LISTS tfaot_kernel_levels_x86_64)
      list(APPEND tfaot_kernel_symbols "tfaot_${kernel}_${type}_${level}")
    endforeach()
  endforeach()
endforeach()
set(row "^TFAOT_FUNCTION_ROW.([a-z0-9]+),.*$")
file(STRINGS "${abi}/functions.def" rows REGEX "${row}")
foreach(line IN LISTS rows)
  string(REGEX REPLACE "${row}" "\\1" name "${line}")
  list(APPEND tfaot_kernel_symbols "tfaot_${name}_f32" "tfaot_${name}_f64")
endforeach()
