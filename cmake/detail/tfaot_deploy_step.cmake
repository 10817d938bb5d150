# SPDX-License-Identifier: Apache-2.0
# Run by the target of tfaot_deploy_model(): packs TREE into the folder WORK, which only it uses, and installs the archive.
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
# Only the tool knows the archive's name, which contains the version, so the archive gets a folder of its own.
file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${TOOL}" package "${TREE}" -o "${WORK}" --quiet RESULT_VARIABLE failed)
if(NOT failed)
  file(GLOB archive "${WORK}/*.tar.zst")
  execute_process(COMMAND "${TOOL}" install "${archive}" ${install_options} RESULT_VARIABLE failed)
endif()
if(failed)
  message(FATAL_ERROR "tfaot_deploy_model: the model was not deployed; see above")
endif()
