# SPDX-License-Identifier: Apache-2.0
# Plugins from several CMake projects, each with its own model of one C++ name, STATIC or SHARED, in one process: other weights,
# another architecture. Each predicts the same as alone.
get_filename_component(plugins "${CASE_SOURCE}/../two_plugins" ABSOLUTE)
set(works "${CASE_TOOLKIT}/tests/e2e/models/works")

# build(<name> <kind> <version> <outputs> <model section's other lines>): the project <name>_<kind>, alone in a process.
function(build name kind version outputs text)
  set(config "${CASE_BINARY}/${name}.yaml")
  file(WRITE "${config}" "model:\n  name: twin\n  version: \"${version}\"\n${text}compilation:\n  batch_sizes: [1, 2]\n")
  set(folder "${CASE_BINARY}/${name}_${kind}")
  case_execute("configure" COMMAND "${CMAKE_COMMAND}" -E env "CMAKE_PREFIX_PATH=${CASE_PREFIX}"
    "${CMAKE_COMMAND}" -S "${CASE_SOURCE}" -B "${folder}" -G "${CASE_GENERATOR}" "-DCONFIG=${config}" -DKIND=${kind} -DVERSION=${version}
    -DOUTPUTS=${outputs} "-DPLUGINS=${plugins}" ${CASE_OPTIONS})
  case_execute("build" COMMAND "${CMAKE_COMMAND}" --build "${folder}" --parallel 2)
  case_execute("host" COMMAND "${folder}/host" local ./${name}_${kind}/libplugin.so)
  if(NOT case_output MATCHES "\\.so:([^\n]+)\n")
    message(FATAL_ERROR "${name}_${kind} does not predict alone\n${case_output}")
  endif()
  set(${name}_predictions "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
set(frozen "  format: frozen_graph\n  inputs: [x]\n  outputs: [y]\n  frozen_graph:")
foreach(kind IN ITEMS STATIC SHARED)
  build(first ${kind} 1.0.0 1 "${frozen} ${works}/frozen_trained/frozen_graph.pb\n")
  build(second ${kind} 1.1.0 1 "${frozen} ${works}/frozen_retrained/frozen_graph.pb\n")
  build(wide ${kind} 2.0.0 2 "  saved_model: ${CASE_TOOLKIT}/examples/minimal/saved_model\n")
endforeach()
if(first_predictions STREQUAL second_predictions)
  message(FATAL_ERROR "first and second predict the same")
endif()

# together(<project>...): loaded in this order, with the symbols seen by all and by none.
function(together)
  set(libraries "")
  foreach(project IN LISTS ARGN)
    list(APPEND libraries ./${project}/libplugin.so)
  endforeach()
  foreach(mode IN ITEMS local global)
    case_execute("host" COMMAND "${CASE_BINARY}/first_STATIC/host" ${mode} ${libraries})
    foreach(project IN LISTS ARGN)
      string(REGEX REPLACE "_.*" "" name "${project}")
      case_expect("./${project}/libplugin.so:${${name}_predictions}")
    endforeach()
  endforeach()
endfunction()
together(first_STATIC second_STATIC wide_STATIC)
together(wide_SHARED second_SHARED first_SHARED)
together(first_SHARED second_STATIC second_SHARED wide_STATIC first_STATIC)
