// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/instance.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tfaot/runtime/detail/select_code.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

namespace {

std::vector<const Code*> select_codes(const Description& description, const CpuChoice& cpu) {
  std::vector<const Code*> codes;
  for (std::size_t i = 0; i < description.program_count; ++i) {
    const Program& program = description.programs[i];
    codes.push_back(&program.codes[select_code(description.name, program, cpu)]);
  }
  return codes;
}

}  // namespace

std::vector<std::int64_t> largest_sizes(const Description& description) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < description.dimension_count; ++i) {
    sizes.push_back(description.dimensions[i].largest);
  }
  return sizes;
}

Instance::Instance(const Description& description, const CpuChoice& cpu)
    : Instance(description, select_codes(description, cpu)) {}

Instance::Instance(const Description& description, std::vector<const Code*> codes)
    : description_(&description),
      codes_(std::move(codes)),
      denormals_(detail::denormals_of(description)) {
  for (const Code* code : codes_) scratch_bytes_ = std::max(scratch_bytes_, code->scratch_bytes);
  scratch_ = AlignedMemory(scratch_bytes_);
  words_ = AlignedMemory(kSizesWord + description.dimension_count * sizeof(std::int64_t));
  set_sizes(largest_sizes(description).data());
  for (const Code* code : codes_) add(*code);
}

Instance Instance::sibling() const { return Instance(*description_, codes_); }

std::vector<std::uint64_t> Instance::costs() const {
  for (const auto cost : {&Code::cost, &Code::estimated_cost}) {
    std::vector<std::uint64_t> costs;
    for (const Code* code : codes_) costs.push_back(code->*cost);
    if (std::find(costs.begin(), costs.end(), 0) == costs.end()) return costs;
  }
  return {};
}

void Instance::touch_scratch(std::size_t program) noexcept {
  const std::size_t bytes = codes_[program]->scratch_bytes;
  if (bytes != 0) std::memset(scratch_.data(), 0, bytes);
}

BatchPlan Instance::batch_plan(Padding padding) const {
  std::vector<std::size_t> sizes;
  std::vector<std::uint32_t> live;
  for (std::size_t i = 0; i < codes_.size(); ++i) {
    sizes.push_back(description_->programs[i].batch_size);
    live.push_back(padding == Padding::kSkipped ? codes_[i]->live_permille : 0);
  }
  if (description_->coupled_rows) return BatchPlan::of_coupled_rows(std::move(sizes));
  std::vector<std::uint64_t> known = costs();
  if (known.empty()) return BatchPlan(std::move(sizes));
  return BatchPlan(std::move(sizes), std::move(known), live);
}

void Instance::add(const Code& code) {
  Call call{};
  call.entry = code.entry;
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
      case BufferKind::kWeight:  // only read: XLA does not write to parameters
        fixed = const_cast<unsigned char*>(description_->weights + buffer.offset);
        break;
      case BufferKind::kLiveRows:
        fixed = words_.data();
        break;
      case BufferKind::kTasks:
        fixed = words_.data() + kTasksWord;
        break;
      case BufferKind::kSizes:
        fixed = words_.data() + kSizesWord;
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

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
