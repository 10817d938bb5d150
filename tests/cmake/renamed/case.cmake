# SPDX-License-Identifier: Apache-2.0
# A model is renamed while a source still includes the header with the old name: the first build reports it, instead of linking a
# plugin that cannot be loaded.
file(COPY "${CASE_SOURCE}/" "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml" "${CASE_TOOLKIT}/examples/minimal/saved_model"
     DESTINATION "${CASE_BINARY}/source")
set(source "${CASE_BINARY}/source")

function(replace_in file old new)
  file(READ "${source}/${file}" text)
  string(REPLACE "${old}" "${new}" text "${text}")
  file(WRITE "${source}/${file}" "${text}")
endfunction()

case_configure(SOURCE "${source}")
case_build()
case_expect_file(build/the_model.tfaot/package/include/tfaot-model-minimal/model.h)

replace_in(aot_config.yaml "name: minimal" "name: renamed")
case_build(FAIL "tfaot-model-minimal/model.h: No such file or directory")

replace_in(plugin.cc "tfaot-model-minimal" "tfaot-model-renamed")
replace_in(plugin.cc "tfaot_model::minimal" "tfaot_model::renamed")
case_build()
case_expect_file(build/the_model.tfaot/package/include/tfaot-model-renamed/model.h)
file(GLOB_RECURSE files LIST_DIRECTORIES true RELATIVE "${CASE_BINARY}/build/the_model.tfaot/package" "${CASE_BINARY}/build/the_model.tfaot/package/*")
list(FILTER files INCLUDE REGEX "minimal")
if(files)
  message(FATAL_ERROR "files of the old name stay: ${files}")
endif()
case_build()
case_expect_not("Compiling|Joining|Building|Linking")
