# SPDX-License-Identifier: Apache-2.0
# The code of each package of PACKAGES (lines NAME|TREE|...) calls the runtime and the C library's memory functions, nothing that computes
# with floating point: its results would depend on the machine's C library. Nor does it call the runtime's exponential, logarithm or
# hyperbolic tangent of a float: XLA's loops have their own, and a loop with both would give a row other bits by its place.
file(STRINGS "${PACKAGES}" lines REGEX "\\|")
set(count 0)
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^[^|]*\\|([^|]*).*$" "\\1" tree "${line}")
  file(GLOB objects "${tree}/lib/*.o")
  foreach(object IN LISTS objects)
    execute_process(COMMAND "${NM}" -u "${object}" OUTPUT_VARIABLE listing RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "${NM} -u ${object}: ${failed}")
    endif()
    string(REGEX MATCHALL "[^ \n]+\n" symbols "${listing}")
    foreach(symbol IN LISTS symbols)
      string(STRIP "${symbol}" symbol)
      if(symbol MATCHES "^tfaot_(exp|log|tanh)_f32$" OR
         NOT symbol MATCHES "^(U|w|tfaot_.*|__xla_.*|mem(cpy|move|set)|_GLOBAL_OFFSET_TABLE_|__(extend|trunc)[bhsd]f[bhsd]f2|__powi[sd]f2)$")
        message(SEND_ERROR "${object} calls '${symbol}'")
      endif()
    endforeach()
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "there are no objects to check")
endif()
