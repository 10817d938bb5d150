# SPDX-License-Identifier: Apache-2.0
# What links a model is installed and exported. The tree is moved and the build removed before a downstream project uses it.

# export_project(<kind>): leaves the installed tree in <kind>/moved.
function(export_project kind)
  set(build "${CASE_BINARY}/${kind}/build")
  case_execute("configure" COMMAND "${CMAKE_COMMAND}" -E env "CMAKE_PREFIX_PATH=${CASE_PREFIX}"
    "${CMAKE_COMMAND}" -S "${CASE_SOURCE}" -B "${build}" -G "${CASE_GENERATOR}" -DKIND=${kind} "-DTFAOT_EXAMPLES=${CASE_TOOLKIT}/examples"
    ${CASE_OPTIONS})
  case_execute("build" COMMAND "${CMAKE_COMMAND}" --build "${build}" --parallel 2)
  case_execute("install" COMMAND "${CMAKE_COMMAND}" --install "${build}" --prefix "${CASE_BINARY}/${kind}/installed")
  file(REMOVE_RECURSE "${build}")
  file(RENAME "${CASE_BINARY}/${kind}/installed" "${CASE_BINARY}/${kind}/moved")
endfunction()

# use(<kind> <package> <prefix path> <program>...): each links what <package> exports, and predicts.
function(use kind package prefixes)
  set(build "${CASE_BINARY}/${kind}/use_${package}")
  case_execute("configure downstream" COMMAND "${CMAKE_COMMAND}" -E env "CMAKE_PREFIX_PATH=${prefixes}"
    "${CMAKE_COMMAND}" -S "${CASE_SOURCE}/downstream" -B "${build}" -G "${CASE_GENERATOR}" -DPACKAGE=${package} ${CASE_OPTIONS})
  case_execute("build downstream" COMMAND "${CMAKE_COMMAND}" --build "${build}")
  foreach(program IN LISTS ARGN)
    case_execute("${program}" COMMAND "${build}/use_${program}")
    case_expect_predictions(${program} minimal 2)
  endforeach()
endfunction()

export_project(STATIC)
use(STATIC closed "${CASE_BINARY}/STATIC/moved" closed)  # without tfaot
use(STATIC open "${CASE_BINARY}/STATIC/moved:${CASE_PREFIX}" open)
export_project(SHARED)
use(SHARED open "${CASE_BINARY}/SHARED/moved:${CASE_PREFIX}" closed open)
