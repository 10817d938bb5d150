// SPDX-License-Identifier: Apache-2.0
// What a header NAME_bsN.h says about the code beside it. tfcompile writes these headers from one
// template, one fact per line. The reader finds the facts by those lines and ignores the rest of
// the C++. Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit {

struct UpstreamTensor {
  std::string name;  // as in the header, "feed_x_bs4"; empty if unnamed
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;  // with the batch
};

// As xla/cpu_function_runtime.h encodes it.
struct UpstreamBuffer {
  enum class Kind { kConstant, kTemporary, kParameter, kStack };
  Kind kind = Kind::kConstant;
  std::uint64_t size = 0;
};

struct UpstreamHeader {
  std::string namespace_name;  // "tfaot_model"
  std::string class_name;      // "test_bs4"
  std::string entry_symbol;
  std::vector<UpstreamTensor> arguments;
  std::vector<UpstreamTensor> results;
  std::vector<UpstreamBuffer> buffers;
  std::vector<std::int64_t> argument_buffers;  // by argument
  // By result; headers from before about TensorFlow 2.17 do not have it.
  std::optional<std::vector<std::int64_t>> result_buffers;
  std::int64_t result_table = 0;  // the buffer that holds the table of results
};

// `where` names the file in errors.
Result<UpstreamHeader> read_upstream_header(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
