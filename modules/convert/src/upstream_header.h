// SPDX-License-Identifier: Apache-2.0
// What a header NAME_bsN.h says about the code beside it. tfcompile writes these headers from one
// template, one fact per line. The reader finds the facts by those lines and ignores the rest of
// the C++. Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

// Turns what a header says about one batch size into our records: rows and buffer slots. Pure
// functions.

// What saved_model_cli and cmsml put before the names of inputs and outputs.
inline constexpr char kInputPrefix[] = "feed_";
inline constexpr char kOutputPrefix[] = "fetch_";

// "x" for "feed_x_bs4".
std::string plain_name(std::string name, std::string_view prefix, std::int64_t batch_size);

// The rows of the tensors: for batch size 4, a shape [4, 64] means rows of [64]. `where` names the
// header in errors. If the first dimension is not the batch size, as in [8, 2], the rows are flat:
// [4], as in upstream's wrapper. A number of elements that the batch size does not divide is an
// error.
Result<Signature> row_signature(const UpstreamHeader& header, std::int64_t batch_size,
                                const std::string& where);

// The entry's buffer table.
Result<std::vector<BufferSlot>> buffer_slots(const UpstreamHeader& header,
                                             const std::string& where);

}  // namespace tfaot::toolkit
