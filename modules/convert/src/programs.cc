// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tfaot/records/dtype.h"

namespace tfaot::toolkit {
namespace {

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
