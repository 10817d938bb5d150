# SPDX-License-Identifier: Apache-2.0
# A release of several models: one command builds the RPMs of the changed ones; a failure does not stop the others.
case_needs_plain_folder()
set(tool "${CASE_PREFIX}/bin/tfaot")
set(rpm rpm --dbpath "${CASE_BINARY}/db")
file(COPY "${CASE_TOOLKIT}/examples/minimal" "${CASE_TOOLKIT}/examples/multi_model" DESTINATION "${CASE_BINARY}/models")
set(configs models/minimal/aot_config.yaml models/multi_model/calibrator/aot_config.yaml
            models/multi_model/jet_tagger/aot_config.yaml)
file(WRITE "${CASE_BINARY}/models/broken/aot_config.yaml"
     "model: {name: broken, version: \"1\", saved_model: s}\ncompilation: {batch_sizes: [1]}\n")
file(WRITE "${CASE_BINARY}/models/broken/s/saved_model.pb" "no model")

function(release)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FAIL" "CONFIGS")
  case_execute("release" FAIL "${arg_FAIL}" COMMAND "${tool}" release ${arg_CONFIGS} -o out -j 2)
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

release(CONFIGS ${configs})
case_expect("built 3, up to date 0, failed 0")
case_expect_file("out/RPMS/tfaot-model-minimal-1.0.0-1.x86_64.rpm" "out/RPMS/tfaot-model-minimal.json")
release(CONFIGS ${configs})
case_expect("built 0, up to date 3, failed 0")
case_expect_not("to install")
case_execute("release" FAIL "rpmbuild cannot work with this path" COMMAND "${tool}" release ${configs} -o "with blank/x")
if(EXISTS "${CASE_BINARY}/with blank")
  message(FATAL_ERROR "what was refused was written to")
endif()

# One changes; one is new and fails.
set(config "${CASE_BINARY}/models/minimal/aot_config.yaml")
file(READ "${config}" text)
string(REPLACE "[1, 2, 4]" "[1, 2]" text "${text}")
file(WRITE "${config}" "${text}")
release(CONFIGS ${configs} models/broken/aot_config.yaml models/missing.yaml
        FAIL "2 of 5 models failed: tfaot-model-broken, models/missing.yaml")
case_expect("tfaot-model-minimal 1.0.0-2 built its model or config changed" "built 1, up to date 2, failed 2"
            "tfaot-model-broken: tfaot-model-broken-1/s: TensorFlow cannot load" "models/missing.yaml: the config file is missing")
case_expect("to install: rpm -U ${CASE_BINARY}/out/RPMS/tfaot-model-minimal-1.0.0-2.x86_64.rpm")
case_expect_not("/out/.tfaot-work|models/missing.yaml +failed")
case_expect_file("out/RPMS/tfaot-model-minimal-1.0.0-2.x86_64.rpm")
file(GLOB broken "${CASE_BINARY}/out/RPMS/*broken*")
if(broken OR EXISTS "${CASE_BINARY}/out/.tfaot-work")
  message(FATAL_ERROR "the failed model left something")
endif()
file(READ "${CASE_BINARY}/out/tfaot-models.file" case_output)
case_expect("Requires: tfaot-model-calibrator Requires: tfaot-model-jet-tagger Requires: tfaot-model-minimal")

# All together in one area; the first model's newer release replaces the older one.
file(GLOB all "${CASE_BINARY}/out/RPMS/*-1.x86_64.rpm")
case_execute("rpm -i" COMMAND ${rpm} -i --prefix "${CASE_BINARY}/area" ${all})
case_execute("rpm -U" COMMAND ${rpm} -U --prefix "${CASE_BINARY}/area" out/RPMS/tfaot-model-minimal-1.0.0-2.x86_64.rpm)
file(GLOB all "${CASE_BINARY}/out/RPMS/*.rpm")
case_execute("rpm -U all" COMMAND ${rpm} -U --replacepkgs --prefix "${CASE_BINARY}/area" ${all})
case_execute("rpm -qa" COMMAND ${rpm} -qa)
case_expect("tfaot-model-minimal+1.0.0-1.0.0-2")
case_expect_not("tfaot-model-minimal+1.0.0-1.0.0-1")
string(REGEX MATCHALL "tfaot-model-[^ \n]+" installed "${case_output}")
set(CASE_PREFIX "${CASE_BINARY}/area")
case_configure(SOURCE "${CASE_TOOLKIT}/examples/plugin")
case_build()
case_run(load_plugin ./plugin.so)
case_expect_predictions(plugin minimal 2)
case_execute("rpm -e" COMMAND ${rpm} -e ${installed})
file(GLOB left "${CASE_BINARY}/area/*")
if(left)
  message(FATAL_ERROR "rpm -e left ${left}")
endif()

# One release at a time in a folder. A killed or interrupted one leaves nothing half-written, and the next one does the rest.
set(again models/minimal/aot_config.yaml)
release(CONFIGS ${again})

# at_once(<how> <version>): for a changed model
function(at_once how version)
  file(READ "${config}" text)
  string(REGEX REPLACE "version: [^\n]*" "version: \"${version}\"" text "${text}")
  file(WRITE "${config}" "${text}")
  case_execute("${how}" COMMAND sh "${CASE_SOURCE}/at_once.sh" ${how} "${tool}" "${CASE_BINARY}/out" ${again})
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# expect_only(<folder> <entry>...)
function(expect_only folder)
  file(GLOB entries RELATIVE "${CASE_BINARY}/${folder}" "${CASE_BINARY}/${folder}/*" "${CASE_BINARY}/${folder}/.*")
  list(FILTER entries EXCLUDE REGEX "^\\.\\.?$|calibrator|jet-tagger")
  if(NOT entries STREQUAL ARGN)
    message(FATAL_ERROR "${folder} holds ${entries}, not ${ARGN}")
  endif()
endfunction()

at_once(second 2.0)
case_expect("another tfaot (process FIRST) is working there; waiting for it to end"
            "built 1, up to date 0" "built 0, up to date 1")
file(WRITE "${CASE_BINARY}/out/SOURCES/.tfaot-12345678.tmp" "half")
at_once(killed 3.0)
case_expect("what a killed tfaot (process FIRST) had started is working there; waiting for it to end" "built 1, up to date 0")
at_once(interrupt 4.0)
case_expect("interrupted by signal 2")
case_expect_not("needs rpmbuild")
set(rpms tfaot-model-minimal-1.0.0-1.x86_64.rpm tfaot-model-minimal-1.0.0-2.x86_64.rpm tfaot-model-minimal-2.0-1.x86_64.rpm
         tfaot-model-minimal-3.0-1.x86_64.rpm)
expect_only(out/RPMS ${rpms} tfaot-model-minimal.json)
expect_only(out RPMS SOURCES SPECS tfaot-models.file)
release(CONFIGS ${again})
case_expect("built 1, up to date 0")
expect_only(out/RPMS ${rpms} tfaot-model-minimal-4.0-1.x86_64.rpm tfaot-model-minimal.json)
file(GLOB left "${CASE_BINARY}/out/SOURCES/.tfaot*")
if(left)
  message(FATAL_ERROR "${left} is still there")
endif()

# The RPM is the same as that of an undisturbed release.
case_execute("release" COMMAND "${tool}" release ${again} -o elsewhere)
case_execute("compare" COMMAND "${CMAKE_COMMAND}" -E compare_files out/RPMS/tfaot-model-minimal-4.0-1.x86_64.rpm
             elsewhere/RPMS/tfaot-model-minimal-4.0-1.x86_64.rpm)
