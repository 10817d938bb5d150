# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=.. -D SOURCE=<the project> -P: what the compiler says of wrong calls of native::Model::run().

# expect(<case> [<regex>...]): each is in the compiler's message; without any the case compiles.
function(expect case)
  execute_process(COMMAND "${COMPILER}" -std=c++17 -fsyntax-only -Wall -Wextra -Werror "-D${case}" "-I${SOURCE}"
                          "-I${SOURCE}/modules/runtime/include" "${SOURCE}/tests/unit/runtime/refused_calls.cc"
                  RESULT_VARIABLE status ERROR_VARIABLE message)
  if(ARGC EQUAL 1 AND NOT status EQUAL 0)
    message(SEND_ERROR "${case} should compile:\n${message}")
  elseif(ARGC GREATER 1 AND status EQUAL 0)
    message(SEND_ERROR "${case} should not compile")
  endif()
  foreach(regex IN LISTS ARGN)
    if(NOT message MATCHES "${regex}")
      message(SEND_ERROR "${case}: no '${regex}' in\n${message}")
    endif()
  endforeach()
endfunction()

set(input "run\\(\\) got an input of another element type than the model's: see InputOfRun<Index, Given, Wanted>")
set(output "run\\(\\) got an output of another element type than the model's: see OutputOfRun<Index, Given, Wanted>")
expect(RIGHT)
expect(INPUT_TYPE "${input}" "InputOfRun<1, short( int)?, long( int)?>")
expect(SWAPPED_INPUTS "${input}" "InputOfRun<0, long( int)?, float>")
expect(OUTPUT_TYPE "${output}" "OutputOfRun<0, double, float>")
expect(CONST_OUTPUT "${output}" "OutputOfRun<0, const float, float>")
expect(TOO_FEW_INPUTS "run\\(\\) got another number of inputs than the model has")
expect(TOO_MANY_INPUTS "run\\(\\) got another number of inputs than the model has")
expect(TOO_FEW_OUTPUTS "run\\(\\) got another number of outputs than the model has")
