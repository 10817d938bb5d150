// SPDX-License-Identifier: Apache-2.0
#include "upstream_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "header_lines.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The text between two words of a line; empty if they are missing.
std::string between(std::string_view line, std::string_view before, std::string_view after) {
  const auto start = line.find(before);
  if (start == std::string_view::npos) return "";
  const std::string_view rest = line.substr(start + before.size());
  const auto end = rest.find(after);
  return end == std::string_view::npos ? "" : std::string(rest.substr(0, end));
}

// XLA's word for an element type.
Result<DType> dtype_of(const HeaderLines& lines, std::string_view word) {
  struct Known {
    std::string_view word;
    DType dtype;
  };
  constexpr auto kKnown = std::to_array<Known>({{"pred", DType::kBool},
                                                {"s8", DType::kInt8},
                                                {"s16", DType::kInt16},
                                                {"s32", DType::kInt32},
                                                {"s64", DType::kInt64},
                                                {"u8", DType::kUint8},
                                                {"u16", DType::kUint16},
                                                {"u32", DType::kUint32},
                                                {"u64", DType::kUint64},
                                                {"f16", DType::kFloat16},
                                                {"bf16", DType::kBfloat16},
                                                {"f32", DType::kFloat32},
                                                {"f64", DType::kFloat64}});
  for (const Known& known : kKnown) {
    if (known.word == word) return known.dtype;
  }
  return fail(lines.unfit(fmt::format("elements of type '{}'", word))
                  .note("models have " + join(words_of<DType>(), ", ")));
}

// "f32[4,64]"
Result<UpstreamTensor> tensor_of(const HeaderLines& lines, const std::string& text) {
  const auto open = text.find('[');
  UpstreamTensor tensor;
  TFAOT_ASSIGN(tensor.dtype, dtype_of(lines, text.substr(0, open)));
  for (const std::string& word : split_lines(replace_all(between(text, "[", "]"), ",", "\n"))) {
    const auto dimension = number_of(word);
    if (!dimension) return fail(lines.unfit(fmt::format("the shape of '{}'", text)));
    tensor.shape.push_back(*dimension);
  }
  return tensor;
}

// XLA counts the elements of long tuples: "f32[4,8], /*index=5*/f32[4]".
std::string without_comments(std::string line) {
  for (auto open = line.find("/*"); open != std::string::npos; open = line.find("/*", open)) {
    const auto close = line.find("*/", open + 2);
    line.erase(open, close == std::string::npos ? close : close + 2 - open);
  }
  return line;
}

// For one half of "(arg0: f32[4,64], (unknown): s64[4]) -> (f32[4,8])": the words that end with
// ']'.
Result<std::vector<UpstreamTensor>> tensors_of(const HeaderLines& lines, std::string_view half) {
  std::vector<UpstreamTensor> tensors;
  for (auto open = half.find('['); open != std::string_view::npos;
       open = half.find('[', open + 1)) {
    const auto close = half.find(']', open);
    const auto start = half.find_last_of(" (", open) + 1;
    if (close == std::string_view::npos) return fail(lines.unfit("its signature is cut off"));
    TFAOT_ASSIGN(UpstreamTensor tensor,
                 tensor_of(lines, std::string(half.substr(start, close + 1 - start))));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void set_names(std::vector<UpstreamTensor>& tensors, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < std::min(tensors.size(), names.size()); ++i) {
    tensors[i].name = names[i];
  }
}

// Only this comment gives element types and shapes in the headers of all versions: the accessors
// show a tensor of one element as a scalar.
Status read_signature(const HeaderLines& lines, UpstreamHeader& header) {
  const auto& all = lines.all();
  const auto title = std::find(all.begin(), all.end(), "// The logical function signature is:");
  if (all.end() - title < 2) return fail(lines.unfit("its signature is missing"));
  const std::string signature = without_comments(title[1]);
  const auto arrow = signature.find(" -> ");
  if (arrow == std::string::npos) return fail(lines.unfit("its signature is cut off"));
  TFAOT_ASSIGN(header.arguments, tensors_of(lines, signature.substr(0, arrow)));
  TFAOT_ASSIGN(header.results, tensors_of(lines, signature.substr(arrow)));
  if (header.arguments.empty() || header.results.empty()) {
    return fail(lines.unfit("a model without inputs or without outputs"));
  }
  set_names(header.arguments, lines.quoted_behind("StaticArgNames() {"));
  set_names(header.results, lines.quoted_behind("StaticResultNames() {"));
  return {};
}

// The first number of "...BufferInfo(...EncodedBufferInfo{262144ULL, ~0U, ~0U})," or, older,
// "...BufferInfo({262144ULL, ~0ULL}),": size and kind. The numbers after it are also in the tables.
Result<std::vector<UpstreamBuffer>> read_buffers(const HeaderLines& lines) {
  TFAOT_ASSIGN(const auto texts, lines.block("kBufferInfos[kNumBuffers] = {"));
  std::vector<UpstreamBuffer> buffers;
  for (const std::string& text : texts) {
    const auto packed = number_of(between(text, "{", "ULL"));
    if (text.find("BufferInfo(") == std::string::npos || !packed) {
      return fail(lines.unfit(fmt::format("'{}' is not a buffer", text)));
    }
    buffers.push_back({static_cast<UpstreamBuffer::Kind>(*packed & 3),
                       static_cast<std::uint64_t>(*packed) >> 2U});
  }
  TFAOT_ASSIGN(const std::int64_t count, lines.constant("kNumBuffers"));
  if (static_cast<std::size_t>(count) == buffers.size()) return buffers;
  return fail(lines.unfit(fmt::format("{} buffers instead of {}", buffers.size(), count)));
}

Status check_indices(const HeaderLines& lines, const std::vector<std::int64_t>& indices,
                     std::size_t wanted, const UpstreamHeader& header) {
  const auto is_buffer = [&](std::int64_t index) {
    return static_cast<std::size_t>(index) < header.buffers.size();
  };
  if (indices.size() == wanted && std::all_of(indices.begin(), indices.end(), is_buffer)) return {};
  return fail(lines.unfit("its tables do not match"));
}

Status read_names(const HeaderLines& lines, UpstreamHeader& header) {
  std::vector<std::string> namespaces;
  for (const std::string& line : lines.all()) {
    if (line.starts_with("extern \"C\" void ") && header.entry_symbol.empty()) {
      header.entry_symbol = between(line, "void ", "(");
    }
    if (line.starts_with("namespace ") && line.ends_with(" {")) {
      namespaces.push_back(between(line, "namespace ", " {"));
    }
    if (line.starts_with("class ") && line.ends_with("XlaCompiledCpuFunction {")) {
      header.class_name = between(line, "class ", " ");
      break;
    }
  }
  header.namespace_name = join(namespaces, "::");
  if (header.class_name.empty()) return fail(lines.unfit("there is no XlaCompiledCpuFunction"));
  if (header.entry_symbol.empty()) return fail(lines.unfit("the entry point is missing"));
  return {};
}

}  // namespace

Result<UpstreamHeader> read_upstream_header(const std::string& text, const std::string& where) {
  const HeaderLines lines(text, where);
  UpstreamHeader header;
  TFAOT_TRY(read_names(lines, header));
  if (lines.has("size_t kNumVariables = ")) {
    TFAOT_ASSIGN(const std::int64_t variables, lines.constant("kNumVariables"));
    if (variables != 0) {
      return fail(lines.unfit(fmt::format("{} variables are left to the caller", variables)));
    }
  }
  TFAOT_TRY(read_signature(lines, header));
  TFAOT_ASSIGN(header.buffers, read_buffers(lines));
  TFAOT_ASSIGN(header.argument_buffers, lines.numbers("kArgIndexToBufferIndex[kNumArgs] = {"));
  TFAOT_TRY(check_indices(lines, header.argument_buffers, header.arguments.size(), header));
  constexpr const char* kResults = "kResultIndexToBufferIndex[kNumResults] = {";
  if (lines.has(kResults)) {
    TFAOT_ASSIGN(header.result_buffers, lines.numbers(kResults));
    TFAOT_TRY(check_indices(lines, *header.result_buffers, header.results.size(), header));
  }
  TFAOT_ASSIGN(header.result_table, lines.constant("kResultIndex"));
  TFAOT_TRY(check_indices(lines, {header.result_table}, 1, header));
  return header;
}

}  // namespace tfaot::toolkit
