// SPDX-License-Identifier: Apache-2.0
#include "hlo/merged_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A sum over the last dimension alone.
bool sums_last(const HloInstruction* reduce) {
  return reduce->opcode() == HloOpcode::kReduce && reduce->operand_count() == 2 &&
         reduce->to_apply()->root_instruction()->opcode() == HloOpcode::kAdd &&
         reduce->dimensions().size() == 1 &&
         reduce->dimensions(0) == reduce->operand(0)->shape().rank() - 1;
}

// The sizes of [batch, groups, channels of a group, positions...]; empty: it is another reshape.
Dimensions split_sizes(const HloInstruction& merge) {
  if (merge.opcode() != HloOpcode::kReshape || merge.shape().rank() < 3 ||
      std::ranges::none_of(merge.users(), sums_last)) {
    return {};
  }
  const Dimensions from = dimensions_of(*merge.operand(0));
  Dimensions sizes = dimensions_of(merge);
  sizes.pop_back();
  const std::size_t at = sizes.size() - 1;  // the groups
  if (from.size() < sizes.size() + 1 || sizes[at] == 0 || from[at] % sizes[at] != 0 ||
      !std::equal(sizes.begin(), sizes.end() - 1, from.begin())) {
    return {};
  }
  sizes.push_back(from[at] / sizes[at]);
  sizes.insert(sizes.end(), from.begin() + static_cast<std::ptrdiff_t>(at) + 1, from.end());
  return sizes;
}

class GroupSplit {
 public:
  GroupSplit(HloInstruction& merge, Dimensions sizes) : merge_(merge), sizes_(std::move(sizes)) {}

  Status run() {
    split_[&merge_] = reshape(merge_.mutable_operand(0), sizes_);
    for (HloInstruction* one : merge_.parent()->MakeInstructionPostOrder()) {
      HloInstruction* made = nullptr;
      if (is_split(*one)) {
        std::vector<HloInstruction*> operands;
        for (HloInstruction* operand : one->operands()) operands.push_back(split(*operand));
        HloInstruction* const other = one->parent()->AddInstruction(
            one->CloneWithNewOperands(shape_of(one->shape().element_type(), sizes_), operands));
        made = reshape(other, dimensions_of(*one));
        split_[made] = other;
      } else if (one->operand_count() > 0 && split_.count(one->operand(0)) != 0) {
        if (sums_last(one)) made = sum(*one);
        if (one->opcode() == HloOpcode::kReshape) {
          made = reshape(split_.at(one->operand(0)), dimensions_of(*one));
        }
      }
      if (made != nullptr) TFAOT_TRY(checked(one->ReplaceAllUsesWith(made)));
    }
    return {};
  }

 private:
  bool can_split(const HloInstruction* operand) const {
    return split_.count(operand) != 0 ||
           (operand->opcode() == HloOpcode::kBroadcast &&
            std::ranges::count(operand->dimensions(), merge_.shape().rank() - 1) == 0);
  }
  bool is_split(const HloInstruction& one) const {
    return one.IsElementwise() && one.shape().IsArray() && one.operand_count() > 0 &&
           !one.HasSideEffect() && one.called_computations().empty() &&
           dimensions_of(one) == dimensions_of(merge_) &&
           std::ranges::any_of(one.operands(),
                               [&](const auto* operand) { return split_.count(operand) != 0; }) &&
           std::ranges::all_of(one.operands(),
                               [&](const auto* operand) { return can_split(operand); });
  }
  HloInstruction* split(HloInstruction& operand) const {
    const auto found = split_.find(&operand);
    if (found != split_.end()) return found->second;
    return broadcast(operand.mutable_operand(0), sizes_, operand.dimensions());
  }
  HloInstruction* sum(HloInstruction& reduce) const {
    Dimensions last(sizes_.size() - static_cast<std::size_t>(reduce.shape().rank()));
    std::iota(last.begin(), last.end(), reduce.shape().rank());
    return reduce.parent()->AddInstruction(
        HloInstruction::CreateReduce(reduce.shape(), split_.at(reduce.operand(0)),
                                     reduce.mutable_operand(1), last, reduce.to_apply()));
  }

  HloInstruction& merge_;
  Dimensions sizes_;
  std::map<const HloInstruction*, HloInstruction*> split_;  // by what has the merged dimension
};

}  // namespace

Status split_merged_groups(xla::HloModule& module) {
  for (xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    if (computation->IsFusionComputation()) continue;
    for (HloInstruction* one : computation->MakeInstructionPostOrder()) {
      Dimensions sizes = split_sizes(*one);
      if (!sizes.empty()) TFAOT_TRY(GroupSplit(*one, std::move(sizes)).run());
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
