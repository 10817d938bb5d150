// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/compiled_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tfaot/base/tool_names.h"
#include "tfaot/records/free_tensors.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

Status inconsistent(std::string message) {
  return fail(Error::internal("the compilation record is inconsistent: " + std::move(message))
                  .note("This is a defect of tfaot; please report it with the model's config."));
}

bool is_symbol(const std::string& text) { return !text.empty() && identifier_of(text) == text; }

// The size of `rows` rows in bytes. None if a dimension is negative or the product is too large.
std::optional<std::uint64_t> bytes_of(const TensorSpec& tensor, std::int64_t rows) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, static_cast<std::int64_t>(size_of(tensor.dtype)), &bytes)) {
    return std::nullopt;
  }
  for (const std::int64_t dimension : tensor.row_shape) {
    if (dimension < 0 || __builtin_mul_overflow(bytes, dimension, &bytes)) return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

Status check_tensors(const char* role, const std::vector<TensorSpec>& tensors,
                     std::int64_t largest_batch) {
  for (const TensorSpec& tensor : tensors) {
    if (!bytes_of(tensor, largest_batch)) {
      return inconsistent(fmt::format("{} '{}' has an impossible shape", role, tensor.name));
    }
  }
  return {};
}

Status check_weights(const CompiledModel& compiled) {
  if (compiled.weights_object.empty()) {
    if (compiled.weights.empty() && compiled.weights_size == 0) return {};
    return inconsistent("there are weights but no weights object");
  }
  if (!is_safe_name(compiled.weights_object) || !is_symbol(compiled.weights_symbol)) {
    return inconsistent(fmt::format("bad names '{}', '{}' of the weights", compiled.weights_object,
                                    compiled.weights_symbol));
  }
  for (const Weight& weight : compiled.weights) {
    if (weight.offset > compiled.weights_size ||
        weight.size > compiled.weights_size - weight.offset) {
      return inconsistent(fmt::format("weight '{}' lies outside the blob", weight.name));
    }
  }
  return {};
}

std::uint64_t buffer_bytes(const TensorSpec& tensor, std::int64_t batch_size) {
  const std::uint64_t bytes = bytes_of(tensor, batch_size).value_or(0);
  if (tensor.free_shape.empty()) return bytes;
  return bytes + static_cast<std::uint64_t>(kElementsBeyond) * size_of(tensor.dtype);
}

Status check_slot(const CompiledModel& compiled, const CompiledCode& code, std::size_t position) {
  const BufferSlot& slot = code.buffers[position];
  const auto check = [&](std::size_t count, auto available) -> Status {
    if (slot.index < count && slot.size <= available()) return {};
    return inconsistent(
        fmt::format("buffer {} of {} does not fit what it points to", position, code.object));
  };
  const auto tensor_bytes = [&](const std::vector<TensorSpec>& tensors) {
    return check(tensors.size(),
                 [&] { return buffer_bytes(tensors[slot.index], code.batch_size); });
  };
  switch (slot.kind) {
    case BufferKind::kInput:
      return tensor_bytes(compiled.signature.inputs);
    case BufferKind::kOutput:
      return tensor_bytes(compiled.signature.outputs);
    case BufferKind::kWeight:
      return check(code.weights.size(), [&]() -> std::uint64_t {
        const std::size_t weight = code.weights[slot.index];
        return weight < compiled.weights.size() ? compiled.weights[weight].size : 0;
      });
    case BufferKind::kUnused:
    case BufferKind::kTemporary:
    case BufferKind::kLiveRows:
    case BufferKind::kTasks:
    case BufferKind::kSizes:
      break;
  }
  return {};
}

Status check_code(const CompiledModel& compiled, const CompiledCode& code) {
  if (!is_safe_name(code.object) || !is_symbol(code.entry_symbol)) {
    return inconsistent(
        fmt::format("bad names '{}', '{}' of an object", code.object, code.entry_symbol));
  }
  const std::uint64_t result_bytes = compiled.signature.outputs.size() * sizeof(void*);
  if (code.result_slot >= code.buffers.size() ||
      code.buffers[code.result_slot].kind != BufferKind::kTemporary ||
      code.buffers[code.result_slot].size < result_bytes) {
    return inconsistent(fmt::format("{} has no table of outputs", code.object));
  }
  for (std::size_t i = 0; i < code.buffers.size(); ++i) {
    TFAOT_TRY(check_slot(compiled, code, i));
  }
  return {};
}

// Every batch size for every CPU level, in this order, each under its own name.
Status check_grid(const CompiledModel& compiled) {
  std::set<std::string> objects{compiled.weights_object};
  std::set<std::string> symbols{compiled.weights_symbol};
  std::set<std::string> levels;
  for (const std::string& level : compiled.cpu_levels) levels.insert(identifier_of(level));
  std::size_t next = 0;
  for (const std::int64_t batch_size : compiled.batch_sizes) {
    for (const std::string& level : compiled.cpu_levels) {
      if (next == compiled.codes.size() || compiled.codes[next].batch_size != batch_size ||
          compiled.codes[next].cpu_level != level) {
        return inconsistent(
            fmt::format("code for batch size {}, CPU level {} is missing", batch_size, level));
      }
      if (!objects.insert(compiled.codes[next].object).second ||
          !symbols.insert(compiled.codes[next].entry_symbol).second) {
        return inconsistent(fmt::format("two objects are named {}", compiled.codes[next].object));
      }
      ++next;
    }
  }
  if (next == 0 || next != compiled.codes.size() || levels.size() != compiled.cpu_levels.size()) {
    return inconsistent("there is code for unknown batch sizes or CPU levels");
  }
  return {};
}

}  // namespace

std::int64_t scratch_bytes(const CompiledCode& code) {
  std::uint64_t bytes = 0;
  for (const BufferSlot& slot : code.buffers) {
    if (slot.kind == BufferKind::kTemporary) bytes += slot.size;
  }
  return static_cast<std::int64_t>(bytes);
}

Status check_compiled_model(const CompiledModel& compiled) {
  TFAOT_TRY(check_grid(compiled));
  const std::int64_t largest = compiled.batch_sizes.back();
  if (compiled.signature.outputs.empty()) return inconsistent("the signature has no outputs");
  TFAOT_TRY(check_tensors("input", compiled.signature.inputs, largest));
  TFAOT_TRY(check_tensors("output", compiled.signature.outputs, largest));
  const std::string problem = free_sizes_problem(compiled.signature, compiled.dimensions);
  if (!problem.empty()) return inconsistent(problem);
  TFAOT_TRY(check_weights(compiled));
  for (const CompiledCode& code : compiled.codes) TFAOT_TRY(check_code(compiled, code));
  return {};
}

}  // namespace tfaot::toolkit
