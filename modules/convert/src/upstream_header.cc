// SPDX-License-Identifier: Apache-2.0
#include "upstream_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"

namespace tfaot::toolkit {
namespace {

// A whole number, digits only.
Result<std::int64_t> number_of(std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  if (number && *number >= 0) return *number;
  return fail(Error(fmt::format("'{}' is not a number", text)));
}

// The lines of a generated header, for finding what follows known words. Holds a copy; one thread.
class HeaderLines {
 public:
  // `where` names the file in errors.
  HeaderLines(const std::string& text, std::string where)
      : lines_(mapped(split_lines(text), trim)), where_(std::move(where)) {}

  const std::vector<std::string>& all() const { return lines_; }  // trimmed

  bool has(std::string_view word) const { return find(word) != lines_.end(); }

  // 12 for "static constexpr size_t kName = 12;".
  Result<std::int64_t> constant(std::string_view name) const {
    const std::string start = fmt::format("static constexpr size_t {} = ", name);
    for (const std::string& line : lines_) {
      if (!line.starts_with(start) || !line.ends_with(";")) continue;
      const auto number = number_of(line.substr(start.size(), line.size() - start.size() - 1));
      if (number) return *number;
    }
    return fail(unfit(fmt::format("{} is missing", name)));
  }

  // The lines between the one that contains `start` and the next one that is "};".
  Result<std::vector<std::string>> block(std::string_view start) const {
    const auto first = find(start);
    const auto last = std::find(first, lines_.end(), "};");
    if (last != lines_.end()) return std::vector<std::string>(first + 1, last);
    return fail(unfit(fmt::format("'{}' is missing", start)));
  }

  // The numbers of a block, separated by commas.
  Result<std::vector<std::int64_t>> numbers(std::string_view start) const {
    TFAOT_ASSIGN(const std::vector<std::string> lines, block(start));
    std::vector<std::int64_t> numbers;
    for (const std::string& word : split_words(join(lines, "\n"), ",\n")) {
      if (trim(word).empty()) continue;
      const auto number = number_of(trim(word));
      if (!number) return fail(unfit(fmt::format("'{}': {}", start, number.error().message())));
      numbers.push_back(*number);
    }
    return numbers;
  }

  // The quoted words of the line after the first one that contains `start`; may be none.
  std::vector<std::string> quoted_behind(std::string_view start) const {
    const auto found = find(start);
    std::vector<std::string> words;
    if (found == lines_.end() || found + 1 == lines_.end()) return words;
    const std::string& line = found[1];
    for (auto open = line.find('"'); open != std::string::npos;) {
      const auto close = line.find('"', open + 1);
      if (close == std::string::npos) break;
      words.push_back(line.substr(open + 1, close - open - 1));
      open = line.find('"', close + 1);
    }
    return words;
  }

  Error unfit(const std::string& what) const {
    return Error::at({where_}, "not a tfcompile header of a kind that tfaot knows: " + what)
        .note("compile the model again: tfaot compile");
  }

 private:
  // The first line that contains the word.
  std::vector<std::string>::const_iterator find(std::string_view word) const {
    return std::ranges::find_if(
        lines_, [&](const std::string& line) { return line.find(word) != std::string::npos; });
  }

  std::vector<std::string> lines_;
  std::string where_;
};

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
  const auto found = std::ranges::find(kKnown, word, &Known::word);
  if (found != kKnown.end()) return found->dtype;
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

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::uint64_t bytes_of(const UpstreamTensor& tensor) {
  return static_cast<std::uint64_t>(elements(tensor.shape)) * size_of(tensor.dtype);
}

struct Role {
  const char* word;    // of tensors without a name, "arg0"
  const char* prefix;  // of those with one
};

Result<std::vector<TensorSpec>> rows_of(const std::vector<UpstreamTensor>& tensors,
                                        const Role& role, std::int64_t batch_size,
                                        const std::string& where) {
  std::vector<TensorSpec> rows;
  for (const UpstreamTensor& tensor : tensors) {
    TensorSpec row;
    row.name = plain_name(tensor.name, role.prefix, batch_size);
    if (row.name.empty()) row.name = fmt::format("{}{}", role.word, rows.size());
    row.dtype = tensor.dtype;
    if (!tensor.shape.empty() && tensor.shape.front() == batch_size) {
      row.row_shape.assign(tensor.shape.begin() + 1, tensor.shape.end());
    } else if (elements(tensor.shape) % batch_size == 0) {
      row.row_shape = {elements(tensor.shape) / batch_size};
    } else {
      return fail(Error::at({where}, fmt::format("'{}' has {} elements, which batch size {} does "
                                                 "not divide into rows",
                                                 row.name, elements(tensor.shape), batch_size)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Finds the result buffers if the header has no table of results: each result has its own temporary
// of its size. If two temporaries fit, the choice is ambiguous.
Result<std::vector<std::int64_t>> find_result_buffers(const UpstreamHeader& header,
                                                      const std::string& where) {
  std::vector<std::int64_t> found;
  for (const UpstreamTensor& result : header.results) {
    std::vector<std::int64_t> fitting;
    for (std::size_t i = 0; i < header.buffers.size(); ++i) {
      const UpstreamBuffer& buffer = header.buffers[i];
      const auto index = static_cast<std::int64_t>(i);
      if (buffer.kind == UpstreamBuffer::Kind::kTemporary && buffer.size == bytes_of(result) &&
          index != header.result_table) {
        fitting.push_back(index);
      }
    }
    if (fitting.size() != 1) {
      return fail(
          Error::at({where}, fmt::format("the header does not say which of {} buffers of {} bytes "
                                         "is the result",
                                         fitting.size(), bytes_of(result)))
              .note("it was made by an older TensorFlow; compile the model again: tfaot compile"));
    }
    found.push_back(fitting.front());
  }
  return found;
}

// REQUIRES: the header's tables match each other.
class SlotWriter {
 public:
  SlotWriter(const UpstreamHeader& header, const std::string& where)
      : header_(header), where_(where) {
    for (const UpstreamBuffer& buffer : header.buffers) {
      const bool is_temporary = buffer.kind == UpstreamBuffer::Kind::kTemporary;
      slots_.push_back(
          {is_temporary ? BufferKind::kTemporary : BufferKind::kUnused, 0, buffer.size});
    }
  }

  // Each tensor has a slot of its own and fills it.
  Status assign(const std::vector<std::int64_t>& indices,
                const std::vector<UpstreamTensor>& tensors, UpstreamBuffer::Kind expected,
                BufferKind kind) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = static_cast<std::size_t>(indices[i]);
      const bool is_free =
          slots_[index].kind == BufferKind::kUnused || slots_[index].kind == BufferKind::kTemporary;
      if (header_.buffers[index].kind != expected || !is_free ||
          slots_[index].size != bytes_of(tensors[i]) || indices[i] == header_.result_table) {
        return fail(Error::at({where_},
                              fmt::format("buffer {} is not that of {} {}", index,
                                          kind == BufferKind::kInput ? "argument" : "result", i)));
      }
      slots_[index].kind = kind;
      slots_[index].index = static_cast<std::uint32_t>(i);
    }
    return {};
  }

  std::vector<BufferSlot> take() { return std::move(slots_); }

 private:
  const UpstreamHeader& header_;
  const std::string& where_;
  std::vector<BufferSlot> slots_;
};

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

std::string plain_name(std::string name, std::string_view prefix, std::int64_t batch_size) {
  const std::string suffix = fmt::format("_bs{}", batch_size);
  if (name.size() > prefix.size() && name.starts_with(prefix)) name.erase(0, prefix.size());
  if (name.size() > suffix.size() && name.ends_with(suffix)) {
    name.resize(name.size() - suffix.size());
  }
  return name;
}

Result<Signature> row_signature(const UpstreamHeader& header, std::int64_t batch_size,
                                const std::string& where) {
  Signature signature;
  signature.key = "serving_default";
  TFAOT_ASSIGN(signature.inputs,
               rows_of(header.arguments, {"arg", kInputPrefix}, batch_size, where));
  TFAOT_ASSIGN(signature.outputs,
               rows_of(header.results, {"result", kOutputPrefix}, batch_size, where));
  return signature;
}

Result<std::vector<BufferSlot>> buffer_slots(const UpstreamHeader& header,
                                             const std::string& where) {
  std::vector<std::int64_t> results;
  if (header.result_buffers) {
    results = *header.result_buffers;
  } else {
    TFAOT_ASSIGN(results, find_result_buffers(header, where));
  }
  SlotWriter slots(header, where);
  TFAOT_TRY(slots.assign(header.argument_buffers, header.arguments,
                         UpstreamBuffer::Kind::kParameter, BufferKind::kInput));
  TFAOT_TRY(
      slots.assign(results, header.results, UpstreamBuffer::Kind::kTemporary, BufferKind::kOutput));
  return slots.take();
}

}  // namespace tfaot::toolkit
