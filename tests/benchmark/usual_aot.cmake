# SPDX-License-Identifier: Apache-2.0
# The usual ahead-of-time route: what saved_model_cli made, TensorFlow's headers and the kernels of its wheel, all compiled
# for any x86-64 as users of that route do.
set(source "${TFAOT_TENSORFLOW_ROOT}/xla_aot_runtime_src")
set(xla "${source}/xla")
add_library(usual_aot_runtime STATIC
  "${source}/tensorflow/compiler/tf2xla/xla_compiled_cpu_function.cc"
  "${CMAKE_CURRENT_LIST_DIR}/runners/usual_aot_conv2d.cc"
  "${xla}/cpu_function_runtime.cc"
  "${xla}/executable_run_options.cc"
  "${xla}/service/cpu/runtime_custom_call_status.cc"
  "${xla}/service/cpu/runtime_single_threaded_conv2d.cc"
  "${xla}/service/cpu/runtime_single_threaded_matmul_f32.cc"
  "${xla}/service/cpu/runtime_single_threaded_matmul_f64.cc"
  "${xla}/service/cpu/runtime_topk.cc"
  "${xla}/service/custom_call_status.cc"
  # The convolution does not link with the wheel's sources alone.
  "${PROJECT_SOURCE_DIR}/tests/benchmark/tsl_logging.cc")
target_include_directories(usual_aot_runtime SYSTEM PUBLIC "${TFAOT_TENSORFLOW_ROOT}/include" "${source}")
target_compile_definitions(usual_aot_runtime PUBLIC NDEBUG)
target_compile_options(usual_aot_runtime PRIVATE -w -O3)
target_compile_features(usual_aot_runtime PUBLIC cxx_std_17)

# tfaot_add_usual_aot_runner(<folder of the net> <net>)
function(tfaot_add_usual_aot_runner folder net)
  set(aot "${folder}/usual_aot/aot")
  set(includes "")
  set(makers "")
  set(objects "")
  file(READ "${folder}/aot_config.yaml" config)
  string(REGEX MATCH "batch_sizes: [^\n]*" sizes "${config}")
  string(REGEX MATCHALL "[0-9]+" sizes "${sizes}")
  foreach(size IN LISTS sizes)
    string(APPEND includes "#include \"${net}_bs${size}.h\"\n")
    string(APPEND makers "    compiled_.emplace(${size}, std::make_unique<tfaot_usual::${net}_bs${size}>());\n")
    list(APPEND objects "${aot}/${net}_bs${size}.o")
  endforeach()
  set(engine "${CMAKE_CURRENT_BINARY_DIR}/${net}_usual_aot_engine.cc")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/runners/usual_aot_engine.cc.in" "${engine}" @ONLY)
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE)
  tfaot_add_runner(runner_usual_aot_${net} "${engine}" LIBRARIES usual_aot_runtime)
  target_sources(runner_usual_aot_${net} PRIVATE ${objects})
  target_include_directories(runner_usual_aot_${net} SYSTEM PRIVATE "${aot}")
endfunction()
