# SPDX-License-Identifier: Apache-2.0
# Run by tfaot_deploy_model()'s target: packs TREE into the folder WORK, which is its own, and installs the archive.
# The arguments of `tfaot install` after the archive follow "--" on the command line; TOOL is the tool.
set(install_options "")
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND install_options "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()
# The archive's name holds the version, which the tool knows: so it is alone in its folder.
file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${TOOL}" package "${TREE}" -o "${WORK}" --quiet RESULT_VARIABLE failed)
if(NOT failed)
  file(GLOB archive "${WORK}/*.tar.zst")
  execute_process(COMMAND "${TOOL}" install "${archive}" ${install_options} RESULT_VARIABLE failed)
endif()
if(failed)
  message(FATAL_ERROR "tfaot_deploy_model: the model was not deployed, see above")
endif()
