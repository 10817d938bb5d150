// SPDX-License-Identifier: Apache-2.0
#include "model_tables.h"

#include <utility>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

::tfaot::BufferKind runtime_kind(BufferKind kind) {
  switch (kind) {
    case BufferKind::kInput:
      return ::tfaot::BufferKind::kInput;
    case BufferKind::kOutput:
      return ::tfaot::BufferKind::kOutput;
    case BufferKind::kWeight:
      return ::tfaot::BufferKind::kWeight;
    case BufferKind::kTemporary:
      return ::tfaot::BufferKind::kTemporary;
    case BufferKind::kLiveRows:
      return ::tfaot::BufferKind::kLiveRows;
    case BufferKind::kSizes:
      return ::tfaot::BufferKind::kSizes;
    case BufferKind::kTasks:
      return ::tfaot::BufferKind::kTasks;
    case BufferKind::kUnused:
      break;
  }
  return ::tfaot::BufferKind::kUnused;
}

}  // namespace

const ::tfaot::SizeFormula* ModelTables::free_shape(const TensorSpec& tensor) {
  if (tensor.free_shape.empty()) return nullptr;
  std::vector<::tfaot::SizeFormula>& formulas = formulas_.emplace_back();
  for (const SizeFormula& dimension : tensor.free_shape) {
    std::vector<::tfaot::SizeTerm>& terms = terms_.emplace_back();
    for (const SizeTerm& term : dimension.terms) {
      std::vector<std::uint8_t>& powers =
          powers_.emplace_back(term.powers.begin(), term.powers.end());
      powers.resize(dimensions_.size());
      auto& within =
          steps_.emplace_back(mapped(term.within, [](const SizeSteps& one) -> ::tfaot::SizeSteps {
            return {one.smallest, one.largest, one.step};
          }));
      if (!within.empty()) within.resize(dimensions_.size(), {0, kLargestSize, 1});
      terms.push_back({term.factor, powers.data(), within.empty() ? nullptr : within.data()});
    }
    formulas.push_back({terms.data(), terms.size(), dimension.divisor});
  }
  return formulas.data();
}

std::vector<::tfaot::TensorInfo> ModelTables::tensor_infos(const std::vector<TensorSpec>& tensors) {
  return mapped(tensors, [&](const TensorSpec& tensor) {
    return ::tfaot::TensorInfo{tensor.name.c_str(),     tensor.dtype,
                               tensor.row_shape.data(), tensor.row_shape.size(),
                               row_elements(tensor),    free_shape(tensor)};
  });
}

// The slots of templates/program_header.h; returns the bytes of scratch.
std::size_t ModelTables::fill_slots(const CompiledCode& code) {
  std::vector<::tfaot::BufferSlot>& table = slots_.emplace_back();
  std::uint64_t scratch = 0;
  for (const BufferSlot& buffer : code.buffers) {
    ::tfaot::BufferSlot slot{runtime_kind(buffer.kind), buffer.index, 0, buffer.size};
    if (buffer.kind == BufferKind::kWeight) {
      slot.index = code.weights[buffer.index];
      slot.offset = compiled_.weights[slot.index].offset;
    }
    if (buffer.kind == BufferKind::kTemporary) {
      slot.offset = scratch;
      scratch +=
          (buffer.size + ::tfaot::kAlignment - 1) / ::tfaot::kAlignment * ::tfaot::kAlignment;
    }
    table.push_back(slot);
  }
  return scratch;
}

::tfaot::Code ModelTables::make_code(const CompiledCode& code) {
  ::tfaot::Code made{};
  made.cpu_level = code.cpu_level.c_str();
  made.cpu_features = features_.emplace_back(join(code.cpu_features, " ")).c_str();
  made.scratch_bytes = fill_slots(code);
  made.slots = slots_.back().data();
  made.slot_count = slots_.back().size();
  made.result_slot = code.result_slot;
  made.cost = measured_cost(manifest_, code.batch_size, code.cpu_level);
  made.estimated_cost = code.estimated_cost;
  made.live_permille = code.live_permille;
  made.shared_permille = code.shared_permille;
  made.lane_bytes = code.lane_bytes;
  return made;
}

ModelTables::ModelTables(Manifest manifest, CompiledModel compiled)
    : manifest_(std::move(manifest)),
      compiled_(std::move(compiled)),
      dimensions_(
          mapped(compiled_.dimensions,
                 [](const FreeDimension& one) {
                   return ::tfaot::FreeDimension{one.name.c_str(), one.smallest, one.largest};
                 })),
      inputs_(tensor_infos(compiled_.signature.inputs)),
      outputs_(tensor_infos(compiled_.signature.outputs)) {
  for (const std::int64_t batch_size : compiled_.batch_sizes) {
    std::vector<::tfaot::Code>& of_size = codes_.emplace_back();
    of_size.reserve(compiled_.codes.size());  // entries_ point into it
    for (const CompiledCode& code : compiled_.codes) {
      if (code.batch_size != batch_size) continue;
      of_size.push_back(make_code(code));
      entries_.push_back({&of_size.back(), &code});
    }
    programs_.push_back({static_cast<std::size_t>(batch_size), of_size.data(), of_size.size()});
  }
  description_.name = manifest_.name.c_str();
  description_.version = manifest_.version.c_str();
  description_.inputs = inputs_.data();
  description_.input_count = inputs_.size();
  description_.outputs = outputs_.data();
  description_.output_count = outputs_.size();
  description_.programs = programs_.data();
  description_.program_count = programs_.size();
  description_.weights_bytes = compiled_.weights_size;
  description_.dimensions = dimensions_.data();
  description_.dimension_count = dimensions_.size();
  description_.coupled_rows = manifest_.rows == RowsMode::kCoupled;
  if (manifest_.record) {
    description_.record_version = manifest_.record->version;
    description_.record_hash = manifest_.record->hash.c_str();
  }
}

}  // namespace tfaot::toolkit
