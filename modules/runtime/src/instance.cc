// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/instance.h"

#include <algorithm>
#include <utility>

namespace tfaot {
inline namespace v1 {

Instance::Instance(const Description& description, const CpuChoice& cpu)
    : description_(&description) {
  std::vector<const Code*> codes;
  for (std::size_t i = 0; i < description.program_count; ++i) {
    const Program& program = description.programs[i];
    codes.push_back(&program.codes[select_code(description.name, program, cpu)]);
    scratch_bytes_ = std::max(scratch_bytes_, codes.back()->scratch_bytes);
  }
  scratch_ = AlignedMemory(scratch_bytes_);
  live_rows_ = AlignedMemory(sizeof(std::int64_t));
  for (const Code* code : codes) add(*code);
}

BatchPlan Instance::batch_plan() const {
  std::vector<std::size_t> sizes;
  std::vector<std::uint64_t> measured;
  std::vector<std::uint64_t> estimated;
  std::vector<std::uint32_t> live;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    sizes.push_back(description_->programs[i].batch_size);
    measured.push_back(calls_[i].cost);
    estimated.push_back(calls_[i].estimated_cost);
    live.push_back(calls_[i].live_permille);
  }
  for (std::vector<std::uint64_t>* costs : {&measured, &estimated}) {
    if (!costs->empty() && std::find(costs->begin(), costs->end(), 0) == costs->end()) {
      return BatchPlan(std::move(sizes), std::move(*costs), live);
    }
  }
  return BatchPlan(std::move(sizes));
}

void Instance::add(const Code& code) {
  Call call{};
  call.entry = code.entry;
  call.cpu_level = code.cpu_level;
  call.cost = code.cost;
  call.estimated_cost = code.estimated_cost;
  call.live_permille = code.live_permille;
  call.table = tables_.size();
  call.result_slot = code.result_slot;
  call.patch = patches_.size();
  std::vector<Patch> outputs;
  for (std::size_t slot = 0; slot < code.slot_count; ++slot) {
    const BufferSlot& buffer = code.slots[slot];
    const Patch patch{static_cast<std::uint32_t>(slot), buffer.index};
    void* fixed = nullptr;
    switch (buffer.kind) {
      case BufferKind::kUnused:
        break;
      case BufferKind::kInput:
        patches_.push_back(patch);
        break;
      case BufferKind::kOutput:
        outputs.push_back(patch);
        break;
      case BufferKind::kWeight:  // only read: XLA writes to no parameter
        fixed = const_cast<unsigned char*>(description_->weights + buffer.offset);
        break;
      case BufferKind::kLiveRows:
        fixed = live_rows_.data();
        break;
      case BufferKind::kTemporary:
        fixed = scratch_.data() == nullptr ? nullptr : scratch_.data() + buffer.offset;
        break;
    }
    tables_.push_back(fixed);
  }
  call.input_patches = patches_.size() - call.patch;
  call.output_patches = outputs.size();
  patches_.insert(patches_.end(), outputs.begin(), outputs.end());
  calls_.push_back(call);
}

}  // namespace v1
}  // namespace tfaot
