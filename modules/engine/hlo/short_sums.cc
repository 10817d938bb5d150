// SPDX-License-Identifier: Apache-2.0
#include "hlo/short_sums.h"

#include <algorithm>
#include <map>

#include "hlo/simplify.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr std::int64_t kMostTerms = 7;  // LLVM makes vectors of 8 itself
// Of terms that lie further apart LLVM loads each alone.
constexpr std::int64_t kMostScattered = 4;
constexpr std::int64_t kFarApart = 9;
constexpr std::size_t kMostOperations = 16;  // that are written out for each term

bool is_made_in_loop(const HloInstruction& value) {
  return value.IsElementwise() && value.operand_count() > 0 && value.user_count() == 1;
}

// Element `place` of the last dimension of a value, and of all that it is computed of.
class Element {
 public:
  explicit Element(std::int64_t place) : place_(place) {}

  HloInstruction* of(HloInstruction* value) {
    if (const auto found = made_.find(value); found != made_.end()) return found->second;
    HloInstruction* const made = make(value);
    made_.emplace(value, made);
    return made;
  }

 private:
  HloInstruction* make(HloInstruction* value) {
    Dimensions sizes = dimensions_of(*value);
    const std::int64_t last = std::ssize(sizes) - 1;
    sizes.pop_back();
    if (is_made_in_loop(*value)) {
      std::vector<HloInstruction*> operands;
      for (HloInstruction* operand : value->operands()) operands.push_back(of(operand));
      return value->parent()->AddInstruction(
          value->CloneWithNewOperands(shape_of(value->shape().element_type(), sizes), operands));
    }
    if (value->opcode() == HloOpcode::kBroadcast) {
      Dimensions kept(value->dimensions().begin(), value->dimensions().end());
      HloInstruction* const inner = value->mutable_operand(0);
      if (kept.empty() || kept.back() != last) return broadcast(inner, sizes, kept);
      kept.pop_back();
      return broadcast(cut(inner), sizes, kept);
    }
    return cut(value);
  }

  HloInstruction* cut(HloInstruction* value) const {
    Dimensions sizes = dimensions_of(*value);
    Dimensions start(sizes.size(), 0);
    Dimensions end = sizes;
    start.back() = place_;
    end.back() = place_ + 1;
    Dimensions cut_sizes = sizes;
    cut_sizes.back() = 1;
    sizes.pop_back();
    return reshape(value->parent()->AddInstruction(HloInstruction::CreateSlice(
                       shape_of(value->shape().element_type(), cut_sizes), value, start, end,
                       Dimensions(start.size(), 1))),
                   sizes);
  }

  std::int64_t place_;
  std::map<HloInstruction*, HloInstruction*> made_;
};

// Whether values of few elements meet in it, each with each: no tensor of all terms is read.
bool has_pairs(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kBroadcast) return !value.dimensions().empty();
  return is_made_in_loop(value) && std::ranges::any_of(value.operands(), [](const auto* operand) {
           return has_pairs(*operand);
         });
}

// The largest distance in memory from a term that pairs read to the same one of the next point.
std::int64_t distance_in(const HloInstruction& value) {
  std::int64_t most = 0;
  if (value.opcode() == HloOpcode::kBroadcast && !value.dimensions().empty()) {
    const HloInstruction* from = value.operand(0);
    while (from->opcode() == HloOpcode::kSlice || from->opcode() == HloOpcode::kReshape) {
      from = from->operand(0);
    }
    most = from->shape().dimensions().back();
  } else if (is_made_in_loop(value)) {
    for (const HloInstruction* operand : value.operands()) {
      most = std::max(most, distance_in(*operand));
    }
  }
  return most;
}

// Whether XLA would compute it again for each element of a loop that repeats it.
bool is_repeated(const HloInstruction& value) {
  return std::ranges::any_of(value.users(), [](const auto* user) {
    return user->opcode() == HloOpcode::kBroadcast ||
           ((user->IsElementwise() || user->opcode() == HloOpcode::kReshape) && is_repeated(*user));
  });
}

std::size_t operations_in(const HloInstruction& value) {
  if (!is_made_in_loop(value)) return 0;
  std::size_t count = 1;
  for (const HloInstruction* operand : value.operands()) {
    if (count <= kMostOperations) count += operations_in(*operand);
  }
  return count;
}

bool has_short_sums(const HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2 ||
      !has_kernels(reduce.shape().element_type()) || reduce.dimensions().size() != 1 ||
      xla::ShapeUtil::IsZeroElementArray(reduce.shape())) {
    return false;
  }
  const xla::Shape& of = reduce.operand(0)->shape();
  const std::int64_t last = of.rank() - 1;
  const HloInstruction& sum = *reduce.to_apply()->root_instruction();
  const std::int64_t terms = of.dimensions(static_cast<int>(last));
  if (terms > kMostScattered &&
      (terms > kMostTerms || distance_in(*reduce.operand(0)) >= kFarApart)) {
    return false;
  }
  return reduce.dimensions(0) == last && sum.opcode() == HloOpcode::kAdd &&
         reduce.to_apply()->instruction_count() == 3 && sum.operand(0) != sum.operand(1) &&
         is_made_in_loop(*reduce.operand(0)) &&
         operations_in(*reduce.operand(0)) <= kMostOperations && has_pairs(*reduce.operand(0)) &&
         !is_repeated(reduce);
}

Status write_out(HloInstruction& reduce) {
  HloInstruction* const of = reduce.mutable_operand(0);
  HloInstruction* sum = broadcast(reduce.mutable_operand(1), reduce.shape().dimensions(), {});
  for (std::int64_t i = 0; i < of->shape().dimensions().back(); ++i) {
    sum = binary(HloOpcode::kAdd, sum, Element(i).of(of));
    sum->set_metadata(reduce.metadata());
  }
  return checked(reduce.ReplaceAllUsesWith(sum));
}

}  // namespace

Status write_out_short_sums(xla::HloModule& module) {
  TFAOT_TRY(remove_dead_code(module));  // users that are left of what is replaced do not count
  for (auto* computation : module.MakeComputationPostOrder()) {
    if (computation->IsFusionComputation()) continue;
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      if (has_short_sums(*instruction)) TFAOT_TRY(write_out(*instruction));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
