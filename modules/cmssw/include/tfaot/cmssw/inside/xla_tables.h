// SPDX-License-Identifier: Apache-2.0
// The tables that XlaCompiledCpuFunction reads about a model's code (xla_function.h). Computed from
// the package's tables when the first function of a batch size is made. Immutable, shared by all
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensorflow/compiler/tf2xla/xla_compiled_cpu_function.h"

#include "tfaot/cmssw/inside/decimal.h"
#include "tfaot/cmssw/inside/xla_buffer.h"
#include "tfaot/cmssw/inside/xla_shape.h"
#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/description.h"
#include "tfaot/runtime/detail/select_code.h"
#include "tfaot/runtime/detail/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// Names and shapes of inputs or outputs, as the lookups of XlaCompiledCpuFunction read them.
class XlaSignature {
 public:
  using ShapeInfo = ShapeInfoOf<::tensorflow::XlaCompiledCpuFunction>::Type;

  // Names are as in upstream's classes: "feed_x_bs4" for an input "x", "fetch_y" for an output "y".
  struct Affixes {
    std::string prefix;
    std::string suffix;
  };
  XlaSignature(const Affixes& affixes, const TensorInfo* infos, std::size_t count,
               std::size_t batch_size) {
    for (std::size_t i = 0; i < count; ++i) {
      names_.push_back(affixes.prefix + infos[i].name + affixes.suffix);
      dimensions_.push_back({static_cast<std::int32_t>(batch_size)});
      for (std::size_t d = 0; d < infos[i].rank; ++d) {
        dimensions_.back().push_back(static_cast<std::int32_t>(infos[i].row_shape[d]));
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      name_pointers_.push_back(names_[i].c_str());
      shapes_.push_back({dimensions_[i].data(), static_cast<std::int32_t>(dimensions_[i].size())});
    }
    name_pointers_.push_back(nullptr);
  }
  XlaSignature(const XlaSignature&) = delete;
  XlaSignature& operator=(const XlaSignature&) = delete;

  // Ends with a null pointer. Nothing writes to it, but the type of TensorFlow's setter requires
  // this cast.
  const char** names() const { return const_cast<const char**>(name_pointers_.data()); }
  const ShapeInfo* shapes() const { return shapes_.data(); }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::int32_t>> dimensions_;
  std::vector<const char*> name_pointers_;
  std::vector<ShapeInfo> shapes_;
};

// The tables of one batch size, at the CPU level of this process. Only inputs are arguments;
// weights (and the number of live rows) are constants, as in upstream's code, which contains them.
// Immutable; one for each class in NAME_bsN.h, for the lifetime of the process.
class XlaTables {
 public:
  using BufferInfo = XlaBufferInfo::Type;
  struct Weight {
    std::int32_t slot;
    const void* data;
  };

  // Throws Error (UnsupportedCpu).
  XlaTables(const Description& model, const Program& program)
      : code_(&program.codes[select_code(model.name, program, this_cpu())]),
        denormals_(detail::denormals_of(model)),
        live_rows_(static_cast<std::int64_t>(program.batch_size)),
        arguments_({"feed_", "_bs" + detail::decimal(program.batch_size)}, model.inputs,
                   model.input_count, program.batch_size),
        results_({"fetch_", ""}, model.outputs, model.output_count, program.batch_size),
        argument_slots_(model.input_count, kNoSlot),
        result_slots_(model.output_count, kNoSlot) {
    for (std::size_t i = 0; i < code_->slot_count; ++i) add(code_->slots[i], model.weights);
    // Inputs that the code does not read are still arguments, in slots after those of the code.
    for (std::size_t i = 0; i < argument_slots_.size(); ++i) {
      if (argument_slots_[i] != kNoSlot) continue;
      const std::uint64_t size = program.batch_size * row_bytes(model.inputs[i]);
      add({BufferKind::kInput, static_cast<std::uint32_t>(i), 0, size}, model.weights);
    }
  }
  XlaTables(const XlaTables&) = delete;
  XlaTables& operator=(const XlaTables&) = delete;

  const Code& code() const { return *code_; }
  detail::Denormals denormals() const { return denormals_; }
  const std::vector<BufferInfo>& buffers() const { return buffers_; }
  const std::vector<Weight>& weights() const { return weights_; }
  const std::vector<std::int32_t>& argument_slots() const { return argument_slots_; }
  const std::vector<std::int32_t>& result_slots() const { return result_slots_; }
  std::int64_t argument_bytes(std::size_t index) const {
    const auto slot = static_cast<std::size_t>(argument_slots_[index]);
    return static_cast<std::int64_t>(buffers_[slot].size());
  }
  const XlaSignature& arguments() const { return arguments_; }
  const XlaSignature& results() const { return results_; }

 private:
  enum : std::int32_t { kNoSlot = -1 };
  void add(const BufferSlot& slot, const unsigned char* weights) {
    const auto position = static_cast<std::int32_t>(buffers_.size());
    switch (slot.kind) {
      case BufferKind::kInput:
        argument_slots_[slot.index] = position;
        return buffers_.push_back(XlaBufferInfo::parameter<BufferInfo>(slot.size, slot.index, 0));
      case BufferKind::kOutput:
        result_slots_[slot.index] = position;
        return buffers_.push_back(XlaBufferInfo::temporary<BufferInfo>(slot.size, 0));
      case BufferKind::kTemporary:
        return buffers_.push_back(XlaBufferInfo::temporary<BufferInfo>(slot.size, 0));
      case BufferKind::kWeight:
        weights_.push_back({position, weights + slot.offset});
        break;
      case BufferKind::kLiveRows:
        weights_.push_back({position, &live_rows_});
        break;
      case BufferKind::kTasks:
        weights_.push_back({position, &no_tasks_});
        break;
      case BufferKind::kSizes:  // packages for these headers have none
      case BufferKind::kUnused:
        break;
    }
    buffers_.push_back(XlaBufferInfo::constant<BufferInfo>(slot.size, 0));
  }

  const Code* code_;
  detail::Denormals denormals_;
  std::int64_t live_rows_;  // the whole batch: CMSSW's calls pass no other number
  std::int64_t no_tasks_ = 0;
  XlaSignature arguments_;
  XlaSignature results_;
  std::vector<std::int32_t> argument_slots_;
  std::vector<std::int32_t> result_slots_;
  std::vector<BufferInfo> buffers_;
  std::vector<Weight> weights_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
