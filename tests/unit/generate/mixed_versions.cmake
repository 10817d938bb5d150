# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=.. -D GOLDEN=.. -D RUNTIME_INCLUDE=.. -D VERSION=.. -D WORK=.. [-D TENSORFLOW=..] -P: a model's header beside the runtime headers of
# another toolkit.
file(REMOVE_RECURSE "${WORK}")
foreach(room IN ITEMS runtime cmssw)
  file(REAL_PATH "${RUNTIME_INCLUDE}/tfaot/${room}" folder)  # the build tree has links
  file(COPY "${folder}" DESTINATION "${WORK}/tfaot")
endforeach()
set(description "${WORK}/tfaot/runtime/detail/description.h")
file(READ "${description}" original)
set(abi "${WORK}/tfaot/runtime/detail/abi.h")
file(READ "${abi}" abi_text)
string(REPLACE "." "_" namespace "v${VERSION}")
if(NOT abi_text MATCHES "#define TFAOT_RUNTIME_VERSION \"${VERSION}\"\n#define TFAOT_RUNTIME_NAMESPACE ${namespace}\n")
  message(SEND_ERROR "tfaot/runtime/detail/abi.h does not say that it is of tfaot ${VERSION}, in the namespace ${namespace}")
endif()
string(REGEX REPLACE "TFAOT_RUNTIME_VERSION \"[^\"]*" "TFAOT_RUNTIME_VERSION \"7.8.9" abi_text "${abi_text}")
file(WRITE "${abi}" "${abi_text}")

# compile(<flavour> <message> <regex> <replacement>): the message is the first error; no message: it compiles.
function(compile flavour message regex replacement)
  string(REGEX REPLACE "${regex}" "${replacement}" text "${original}")
  file(WRITE "${description}" "${text}")
  file(GLOB header "${GOLDEN}/${flavour}/include/*/model.h")
  execute_process(COMMAND "${COMPILER}" -std=c++17 -fsyntax-only "-I${WORK}" "-I${STAND_IN}" -isystem "${TENSORFLOW}" -include "${header}" -x c++ /dev/null
                  RESULT_VARIABLE status ERROR_VARIABLE output)
  string(REGEX MATCH "error: .*" errors "${output}")
  if(message STREQUAL "" AND NOT status EQUAL 0)
    message(SEND_ERROR "${flavour}, '${replacement}' should compile:\n${output}")
  elseif(NOT message STREQUAL "" AND NOT errors MATCHES "^error: [^\n]*${message}")
    message(SEND_ERROR "${flavour}, '${replacement}': the first error is not '${message}':\n${output}")
  endif()
endfunction()

set(refused "tfaot-model-[A-Za-z-]+ was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot 7.8.9\\. Put the newest")
set(flavours simple embedded)
if(TENSORFLOW)
  list(APPEND flavours cmssw)
endif()
foreach(flavour IN LISTS flavours)
  compile(${flavour} "" "no such text" "")
  compile(${flavour} "${refused}" "kNewestTables = [0-9]+" "kNewestTables = 0")
  compile(${flavour} "${refused}" "kOldestTables = [0-9]+" "kOldestTables = 98")
endforeach()
# What a header includes is where every version of the runtime has it: else the compiler misses a file before it sees the message.
file(GLOB_RECURSE headers "${GOLDEN}/*.h")
foreach(header IN LISTS headers)
  file(STRINGS "${header}" includes REGEX "#include \"tfaot/runtime/detail/")
  if(includes)
    message(SEND_ERROR "${header} includes what older versions of the runtime lack: ${includes}")
  endif()
endforeach()
# Older tables, and those that came since, compile.
compile(simple "" "kNewestTables = [0-9]+" "kNewestTables = 99")
