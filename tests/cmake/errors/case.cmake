# SPDX-License-Identifier: Apache-2.0
# expect(<code> <message>): the configure step fails with the message.
function(expect code message)
  case_configure(OPTIONS "-DCALL=${code}" FAIL "${message}")
endfunction()

expect("tfaot_add_model(m)" "tfaot_add_model: CONFIG or MODEL is required")
expect("tfaot_add_model(m CONFIG)" "tfaot_add_model: CONFIG needs a value")
expect("tfaot_add_model(m CONFIG nowhere.yaml)"
       "tfaot_add_model: CONFIG is not a file: ${CASE_SOURCE}/nowhere.yaml")
expect("tfaot_add_model(m CONFG a.yaml)"
       "tfaot_add_model: unknown keyword 'CONFG'
          Known keywords: SHARED STATIC TUNE CONFIG MODEL NAME NAMESPACE VERSION SIGNATURE OUTPUT_DIR BATCH COMPUTE HEADERS OPSET OPTIMIZE ROWS WEIGHTS WEIGHTS_TYPE BATCH_SIZES CPU_LEVELS DIMENSIONS")
expect("tfaot_add_model(m CONFIG a.yaml BATCH_SIZES 1 2 NAMESPCE ns)"
       "tfaot_add_model: unknown keyword 'NAMESPCE' Known keywords: SHARED")
expect("tfaot_add_model(m CONFIG a.yaml SOMETHING)" "tfaot_add_model: unknown keyword 'SOMETHING' Known keywords:")
expect("tfaot_add_model(m CONFIG a.yaml HEADERS CMSSW)"
       "tfaot_add_model: HEADERS 'CMSSW' is neither self_contained nor cmssw")
expect("tfaot_add_model(m CONFIG a.yaml ROWS mixed)"
       "tfaot_add_model: ROWS 'mixed' is neither alone nor coupled")
expect("tfaot_add_model(m CONFIG a.yaml SHARED STATIC)"
       "tfaot_add_model: SHARED and STATIC exclude each other; give only one")
expect("tfaot_add_model(m CONFIG a.yaml WEIGHTS_TYPE int4)"
       "tfaot_add_model: WEIGHTS_TYPE 'int4' is neither float32 nor bfloat16 nor float16 nor int8")
expect("tfaot_add_model(m CONFIG a.yaml COMPUTE int8)" "tfaot_add_model: COMPUTE 'int8' is neither float32 nor bfloat16")
expect("tfaot_add_model(m CONFIG a.yaml DIMENSIONS n_tracks)" "tfaot_add_model: DIMENSIONS takes <name>=<size>, not 'n_tracks'")
expect("tfaot_add_model(m CONFIG a.yaml DIMENSIONS n_tracks=0)" "tfaot_add_model: DIMENSIONS takes <name>=<size>, not 'n_tracks=0'")

# Without a config.
set(model "\${TFAOT_EXAMPLES}/minimal/saved_model")
expect("tfaot_add_model(m CONFIG a.yaml MODEL b.onnx)" "tfaot_add_model: CONFIG and MODEL exclude each other; give only one")
expect("tfaot_add_model(m CONFIG a.yaml SIGNATURE s)" "tfaot_add_model: CONFIG and SIGNATURE exclude each other; give only one")
expect("tfaot_add_model(m MODEL)" "tfaot_add_model: MODEL needs a value")
expect("tfaot_add_model(m MODEL nowhere.onnx)"
       "CMakeLists.txt:9:EVAL:1 (tfaot_add_model)")
expect("tfaot_add_model(m MODEL nowhere.onnx)"
       "tfaot_add_model: there is no model '${CASE_SOURCE}/nowhere.onnx'
          It is a SavedModel's folder, an ONNX file or a file with StableHLO.")
expect("tfaot_add_model(m MODEL CMakeLists.txt)" "tfaot_add_model: this is no model: ${CASE_SOURCE}/CMakeLists.txt")
file(WRITE "${CASE_BINARY}/graph.pb" "")
expect("tfaot_add_model(m MODEL \"${CASE_BINARY}/graph.pb\")"
       "tfaot_add_model: a frozen graph needs a config: it does not say what its inputs and outputs are
          'tfaot init ${CASE_BINARY}/graph.pb' writes one.")
expect("tfaot_add_model(my-net MODEL ${model})" "tfaot_add_model: the model's name 'my-net' is not a C++ name
          Give it another one: NAME <name>.")
expect("tfaot_add_model(m MODEL ${model} NAME class)" "tfaot_add_model: model.name: 'class' is a C++ keyword")
expect("tfaot_add_model(m MODEL ${model} VERSION -1)" "tfaot_add_model: model.version: '-1' is not allowed")
expect("tfaot_add_model(ns::m MODEL ${model} NAME other)"
       "tfaot_add_model: the target is 'ns::m', but the model's C++ name is 'ns::other'")
expect("tfaot_add_model(m MODEL ${model} NAME minimal)"
       "tfaot_add_model: model tfaot_model::minimal was added already; give this one another NAMESPACE")
expect("tfaot_add_model(m CONFIG \${config} NAMESPACE 9lives)"
       "tfaot_add_model: the model's namespace '9lives' is not a C++ name (${CASE_TOOLKIT}/examples/minimal/aot_config.yaml)")
expect("tfaot_add_model(again CONFIG \${config})"
       "tfaot_add_model: model tfaot_model::minimal was added already; give this one another NAMESPACE
        (${CASE_TOOLKIT}/examples/minimal/aot_config.yaml)")
expect("tfaot_add_model(a::b CONFIG \${config} NAMESPACE ns)"
       "tfaot_add_model: the target is 'a::b', but the model's C++ name is 'ns::minimal'
          Give the target that name, or change model.name or compilation.namespace in the config; NAMESPACE overrides the latter.")
expect("tfaot_add_model(m CONFIG \${config} NAMESPACE ns NAME other)"
       "tfaot_add_model: NAME is 'other', but model.name is 'minimal' (${CASE_TOOLKIT}/examples/minimal/aot_config.yaml)
          Leave NAME out, or correct one of the two.")
expect("tfaot_add_model(other CONFIG \${config} NAMESPACE ns)"
       "tfaot_add_model: there is already a target 'other' Give the model another target name.")
expect("tfaot_add_model(m CONFIG \${config} NAMESPACE ns VERSION 3 SHARED)"
       "tfaot_add_model: VERSION is '3', but model.version is '1.0.0' (${CASE_TOOLKIT}/examples/minimal/aot_config.yaml)
          Leave VERSION out, or correct one of the two.")
file(WRITE "${CASE_BINARY}/wrong.yaml" "model: {name: 9lives, version: 1}\ncompilation: {batch_sizes: [1]}\n")
expect("tfaot_add_model(m CONFIG \"${CASE_BINARY}/wrong.yaml\")"
       "tfaot_add_model: ${CASE_BINARY}/wrong.yaml:1:15: model.name: '9lives' is not allowed")

expect("tfaot_package_model(nothing)"
       "tfaot_package_model: there is no target 'nothing'; make it with tfaot_add_model() first")
expect("tfaot_package_model(other)" "tfaot_package_model: target 'other' was not made by tfaot_add_model()")
expect("tfaot_package_model(good FORMAT zip)" "tfaot_package_model: FORMAT 'zip' is neither tar.zst nor tar.gz")
expect("tfaot_package_model(good OUTPUTDIR x)"
       "tfaot_package_model: unknown keyword 'OUTPUTDIR' Known keywords: OUTPUT_DIR FORMAT")
expect("tfaot_deploy_model(good)" "tfaot_deploy_model: RELEASE_AREA is required")
expect("tfaot_package_model(good)\ntfaot_package_model(tfaot_model::minimal FORMAT tar.gz)"
       "tfaot_package_model: there is already a target 'good_package'
          A model has one archive in a build; 'tfaot package' makes one in another format from the package tree.")
expect("tfaot_deploy_model(good RELEASE_AREA x)\ntfaot_deploy_model(good RELEASE_AREA y)"
       "tfaot_deploy_model: there is already a target 'good_deploy'
          A build deploys a model into one release area; for another area use another build, or 'tfaot install'.")
expect("tfaot_deploy_model(other RELEASE_AREA x)"
       "tfaot_deploy_model: target 'other' was not made by tfaot_add_model()")

# The old name says what to write, and works.
case_configure(OPTIONS "-DCALL=tfaot_install_model(tfaot_model::minimal RELEASE_AREA x)\nget_target_property(needs good_install MANUALLY_ADDED_DEPENDENCIES)
message(STATUS \"needs \${needs}\")")
case_expect("CMake Deprecation Warning" "tfaot_install_model() is called tfaot_deploy_model() now" "needs good_deploy")
expect("tfaot_install_model(good)" "tfaot_deploy_model: RELEASE_AREA is required")

# The tool reads the config for CMake, so any style of YAML will do.
file(COPY "${CASE_TOOLKIT}/examples/minimal" DESTINATION "${CASE_BINARY}")
file(WRITE "${CASE_BINARY}/minimal/flow.yaml" "{model: {name: minimal, version: '1'}, compilation: {batch_sizes: [1]}}\n")
expect("tfaot_add_model(m CONFIG \"${CASE_BINARY}/minimal/flow.yaml\" NAMESPACE ns NAME other)"
       "tfaot_add_model: NAME is 'other', but model.name is 'minimal' (${CASE_BINARY}/minimal/flow.yaml)")

file(COPY "${CASE_TOOLKIT}/examples/minimal" DESTINATION "${CASE_BINARY}/a;b")
expect("tfaot_add_model(m CONFIG [==[${CASE_BINARY}/a;b/minimal/aot_config.yaml]==] NAMESPACE ns)"
       "tfaot_add_model: build tools cannot take the path of CONFIG, which holds a ';' or a line break:")

# Versions that CMake takes for "off" are versions.
file(WRITE "${CASE_BINARY}/minimal/zero.yaml" "{model: {name: minimal, version: '0'}, compilation: {batch_sizes: [1]}}\n")
case_configure(OPTIONS "-DCALL=tfaot_add_model(m CONFIG \"${CASE_BINARY}/minimal/zero.yaml\" NAMESPACE ns SHARED)
get_target_property(soversion m SOVERSION)
message(STATUS \"soversion \${soversion}\")")
case_expect("soversion 0")

# Values that CMake takes for "off" reach the tool too.
case_configure(OPTIONS "-DCALL=tfaot_add_model(m CONFIG \"${CASE_BINARY}/minimal/aot_config.yaml\" NAMESPACE ns BATCH_SIZES 0)")
case_build(TARGET m FAIL "--batch-sizes: 0 is not allowed")

# What is found out only when the model is compiled names the file that asks for it.
foreach(words IN ITEMS "BATCH_SIZES 0|CMakeLists.txt:9:EVAL: --batch-sizes: 0 is not allowed" "CPU_LEVELS z80|CMakeLists.txt:9:EVAL: --cpu-levels: 'z80'"
                       "SIGNATURE none|asked for in ${CASE_SOURCE}/CMakeLists.txt")
  string(REPLACE "|" ";" words "${words}")
  list(GET words 0 keywords)
  list(GET words 1 message)
  case_configure(OPTIONS "-DCALL=tfaot_add_model(m MODEL ${model} ${keywords})")
  case_build(TARGET m FAIL "${message}")
endforeach()
