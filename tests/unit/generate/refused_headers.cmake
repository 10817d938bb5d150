# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=.. -D GOLDEN=.. -D RUNTIME_INCLUDE=.. -D STAND_IN=.. -D WORK=.. [-D TENSORFLOW=..] -P: what headers cannot be used with is
# said in one #error, at which the compiler stops.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

# compile(<what> <standard> <message> <flag>... TEXT <line>...): the message is the only error of the headers; no message: it compiles.
function(compile what standard message)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "TEXT")
  list(JOIN arg_TEXT "\n" text)
  file(WRITE "${WORK}/source.cc" "${text}\n")
  execute_process(COMMAND "${COMPILER}" -std=${standard} -fsyntax-only "-I${RUNTIME_INCLUDE}" ${arg_UNPARSED_ARGUMENTS} "${WORK}/source.cc"
                  RESULT_VARIABLE status ERROR_VARIABLE output)
  if(message STREQUAL "")
    if(NOT status EQUAL 0)
      message(SEND_ERROR "${what} should compile:\n${output}")
    endif()
    return()
  endif()
  string(REGEX MATCHALL "error: [^\n]*" errors "${output}")
  list(LENGTH errors count)
  list(GET errors 0 first)
  if(NOT first MATCHES "${message}" OR count GREATER 2)
    message(SEND_ERROR "${what}: '${message}' should be the first error, and the end, but there are ${count}:\n${output}")
  endif()
endfunction()

set(model "#include \"tfaot-model-test/model.h\"" "tfaot::native::Model<tfaot_model::test> model\;")
set(theirs "#include \"PhysicsTools/TensorFlowAOT/interface/Model.h\"")
set(simple "-I${GOLDEN}/simple/include")

compile("the model" c++17 "" ${simple} TEXT ${model})
compile("C++14" c++14 "\"tfaot needs C\\+\\+17: compile with -std=c\\+\\+17 or newer" ${simple} TEXT ${model})
file(GLOB_RECURSE headers RELATIVE "${RUNTIME_INCLUDE}" "${RUNTIME_INCLUDE}/tfaot/runtime/*.h")
list(REMOVE_ITEM headers tfaot/runtime/tfaot.h)
compile("the C interface" c++14 "" TEXT "#include \"tfaot/runtime/tfaot.h\"")
# The standard library's, read once for all: clang++ parses what stands before an #error, which is most of its time here.
set(read "")
if(COMPILER MATCHES "clang")
  set(library "")
  foreach(header IN LISTS headers)
    file(STRINGS "${RUNTIME_INCLUDE}/${header}" includes REGEX "^#include <")
    list(APPEND library ${includes})
  endforeach()
  list(REMOVE_DUPLICATES library)
  list(JOIN library "\n" library)
  file(WRITE "${WORK}/library.h" "${library}\n")
  execute_process(COMMAND "${COMPILER}" -std=c++14 -x c++-header "${WORK}/library.h" -o "${WORK}/library.pch" COMMAND_ERROR_IS_FATAL ANY)
  set(read -include-pch "${WORK}/library.pch")
endif()
foreach(header IN LISTS headers)
  compile("C++14, ${header}" c++14 "\"tfaot needs C\\+\\+17" ${read} TEXT "#include \"${header}\"")
endforeach()

compile("the drop-in headers" c++17 "" ${simple} "-I${RUNTIME_INCLUDE}/tfaot/cmssw/drop_in" TEXT ${theirs} ${model})
compile("the drop-in headers last" c++17 "" ${simple} "-I${RUNTIME_INCLUDE}/tfaot/cmssw/drop_in" TEXT ${model} ${theirs})
if(NOT TENSORFLOW)  # which CMSSW's headers include
  return()
endif()

set(inside ${simple} "-I${GOLDEN}/cmssw/include" "-I${STAND_IN}" -isystem "${TENSORFLOW}")
set(cmssw "#include \"tfaot-model-TagNet/model.h\"")
set(ours_is_second "\"CMSSW's PhysicsTools/TensorFlowAOT was included before this header.* Compile tfaot-model-test with")
compile("CMSSW's headers in the path" c++17 "" ${inside} TEXT ${model})
compile("CMSSW's headers first" c++17 "${ours_is_second}" ${inside} TEXT ${theirs} ${model})
compile("the flavour cmssw first" c++17 "${ours_is_second}" ${inside} TEXT ${cmssw} ${model})
compile("the flavour cmssw last" c++17 "\"tfaot's own tfaot::Model was included before this header" ${inside} TEXT ${model} ${cmssw})

# CMSSW's after ours: nobody can stop the compiler there, but its message shows the line with the advice.
file(WRITE "${WORK}/source.cc" "#include \"tfaot-model-test/model.h\"\n${theirs}\ntfaot::Model<tfaot_model::test> model;\n")
execute_process(COMMAND "${COMPILER}" -std=c++17 -fsyntax-only "-I${RUNTIME_INCLUDE}" ${inside} "${WORK}/source.cc"
                RESULT_VARIABLE status ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "ambiguous\\? CMSSW's PhysicsTools/TensorFlowAOT was included too: docs/cmssw.md")
  message(SEND_ERROR "CMSSW's headers last: no advice\n${output}")
endif()
