# SPDX-License-Identifier: Apache-2.0
# ONNX's messages as C++ classes, for the engine: protoc makes them from the pinned onnx-ml.proto (fetch_onnx.sh). They use the protobuf
# that TensorFlow's library exports: there is no second one in the process. Creates tfaot_onnx_messages.
include_guard()
if(NOT TFAOT_BUILD_ENGINE)
  return()
endif()

find_program(TFAOT_PROTOC protoc REQUIRED DOC "protoc 3.21, whose messages TensorFlow's protobuf takes")
execute_process(COMMAND "${TFAOT_PROTOC}" --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT version MATCHES " 3\\.21\\.")
  message(FATAL_ERROR "tfaot: ${TFAOT_PROTOC} is ${version}, but TensorFlow's protobuf needs 3.21. "
    "Debian 12: apt-get install protobuf-compiler. Another place: -DTFAOT_PROTOC=FILE.")
endif()
execute_process(COMMAND bash "${PROJECT_SOURCE_DIR}/packaging/fetch_onnx.sh"
  OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "tfaot: no ONNX messages to build the engine with; the reason is above. "
    "Without the engine: -DTFAOT_BUILD_ENGINE=OFF.")
endif()
string(REGEX MATCH "[^\n]*$" root "${root}")

# Not for protobuf's lite runtime: tests write models as text.
set(folder "${CMAKE_CURRENT_BINARY_DIR}/onnx_messages")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/onnx-ml.proto")
file(READ "${root}/onnx-ml.proto" proto)
string(REPLACE "option optimize_for = LITE_RUNTIME;" "" proto "${proto}")
file(CONFIGURE OUTPUT "${folder}/onnx-ml.proto" CONTENT "${proto}" @ONLY)
add_custom_command(
  OUTPUT "${folder}/onnx-ml.pb.cc" "${folder}/onnx-ml.pb.h"
  COMMAND "${TFAOT_PROTOC}" "--proto_path=${folder}" "--cpp_out=${folder}" onnx-ml.proto
  DEPENDS "${folder}/onnx-ml.proto"
  COMMENT "Generating ONNX's messages"
  VERBATIM)
add_library(tfaot_onnx_messages STATIC EXCLUDE_FROM_ALL "${folder}/onnx-ml.pb.cc" "${folder}/onnx-ml.pb.h")
target_include_directories(tfaot_onnx_messages SYSTEM PUBLIC "${folder}")
target_link_libraries(tfaot_onnx_messages PUBLIC tfaot_tensorflow_headers)
target_compile_features(tfaot_onnx_messages PUBLIC cxx_std_17)
target_compile_options(tfaot_onnx_messages PRIVATE -w $<$<CONFIG:Release>:-Og>)  # as the engine
set_target_properties(tfaot_onnx_messages PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
