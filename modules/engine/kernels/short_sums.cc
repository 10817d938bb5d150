// SPDX-License-Identifier: Apache-2.0
#include "kernels/short_sums.h"

#include <algorithm>
#include <map>
#include <set>

#include "hlo/simplify.h"
#include "kernels/gathered_parts.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr std::int64_t kMostTerms = 7;  // LLVM makes vectors of 8 itself
// Of terms that lie further apart LLVM loads each alone.
constexpr std::int64_t kMostScattered = 4;
constexpr std::int64_t kFarApart = 8;
constexpr std::int64_t kFewestSums = 128;    // for which terms are gathered first
constexpr std::size_t kMostWrittenOut = 16;  // that are written out for each term

bool is_of_same_loop(const HloInstruction& value) {
  return value.IsElementwise() && value.operand_count() > 0 && value.user_count() == 1;
}

// The terms that pairs read of each point, as they lie in memory.
StridedRows points_of(HloInstruction* value) {
  return strided_rows(
      value, xla::ShapeUtil::ElementsIn(value->shape()) / value->shape().dimensions().back());
}

// Whether to copy them first, so that they lie side by side.
bool is_gathered(HloInstruction* value, std::int64_t sums) {
  const StridedRows points = points_of(value);
  return sums >= kFewestSums && points.step >= kFarApart &&
         points.step > value->shape().dimensions().back() && !points.base->IsElementwise();
}

using GatheredPoints = std::map<HloInstruction*, HloInstruction*>;

// Element `place` of the last dimension of a value, and of all that it is computed of.
class OneTerm {
 public:
  OneTerm(std::int64_t place, const HloInstruction& reduce, GatheredPoints& gathers)
      : place_(place), reduce_(reduce), gathers_(gathers) {}

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
    if (is_of_same_loop(*value)) {
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
      return broadcast(cut(gathered(inner)), sizes, kept);
    }
    return cut(value);
  }

  HloInstruction* gathered(HloInstruction* value) {
    if (!is_gathered(value, xla::ShapeUtil::ElementsIn(reduce_.shape()))) return value;
    HloInstruction*& made = gathers_[value];
    if (made == nullptr) {
      const Dimensions sizes = dimensions_of(*value);
      made = add_gather({part_in_order(value, product(sizes) / sizes.back())}, sizes, reduce_);
    }
    return made;
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
  const HloInstruction& reduce_;
  GatheredPoints& gathers_;
  std::map<HloInstruction*, HloInstruction*> made_;
};

// Whether values of few elements meet in it, each with each: no tensor of all terms is read.
bool has_pairs(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kBroadcast) return !value.dimensions().empty();
  return is_of_same_loop(value) && std::ranges::any_of(value.operands(), [](const auto* operand) {
           return has_pairs(*operand);
         });
}

// Whether pairs read terms that lie far apart, also after a copy of what can be gathered.
bool is_scattered(HloInstruction* value, std::int64_t sums) {
  if (value->opcode() == HloOpcode::kBroadcast && !value->dimensions().empty()) {
    HloInstruction* const points = value->mutable_operand(0);
    return points_of(points).step >= kFarApart && !is_gathered(points, sums);
  }
  return is_of_same_loop(*value) && std::ranges::any_of(value->operands(), [&](auto* operand) {
           return is_scattered(operand, sums);
         });
}

// Whether XLA would compute it again for each element of a loop that repeats it. `seen`: what was
// looked at already.
bool is_spread_later(const HloInstruction& value, std::set<const HloInstruction*>& seen) {
  if (!seen.insert(&value).second) return false;
  return std::ranges::any_of(value.users(), [&](const auto* user) {
    return user->opcode() == HloOpcode::kBroadcast ||
           ((user->IsElementwise() || user->opcode() == HloOpcode::kReshape) &&
            is_spread_later(*user, seen));
  });
}

std::size_t operations_in(const HloInstruction& value) {
  if (!is_of_same_loop(value)) return 0;
  std::size_t count = 1;
  for (const HloInstruction* operand : value.operands()) {
    if (count <= kMostWrittenOut) count += operations_in(*operand);
  }
  return count;
}

bool has_short_sums(HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2 ||
      !has_kernels(reduce.shape().element_type()) || reduce.dimensions().size() != 1 ||
      xla::ShapeUtil::IsZeroElementArray(reduce.shape())) {
    return false;
  }
  const xla::Shape& of = reduce.operand(0)->shape();
  const std::int64_t last = of.rank() - 1;
  const HloInstruction& sum = *reduce.to_apply()->root_instruction();
  const std::int64_t terms = of.dimensions(static_cast<int>(last));
  // First of all, so that what follows goes over few operations.
  if (!is_of_same_loop(*reduce.operand(0)) || operations_in(*reduce.operand(0)) > kMostWrittenOut) {
    return false;
  }
  if (terms > kMostScattered &&
      (terms > kMostTerms ||
       is_scattered(reduce.mutable_operand(0), xla::ShapeUtil::ElementsIn(reduce.shape())))) {
    return false;
  }
  std::set<const HloInstruction*> seen;
  return reduce.dimensions(0) == last && sum.opcode() == HloOpcode::kAdd &&
         reduce.to_apply()->instruction_count() == 3 && sum.operand(0) != sum.operand(1) &&
         has_pairs(*reduce.operand(0)) && !is_spread_later(reduce, seen);
}

Status write_out_sum(HloInstruction& reduce) {
  HloInstruction* const of = reduce.mutable_operand(0);
  GatheredPoints gathers;
  HloInstruction* sum = broadcast(reduce.mutable_operand(1), reduce.shape().dimensions(), {});
  for (std::int64_t i = 0; i < of->shape().dimensions().back(); ++i) {
    sum = binary(HloOpcode::kAdd, sum, OneTerm(i, reduce, gathers).of(of));
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
      if (has_short_sums(*instruction)) TFAOT_TRY(write_out_sum(*instruction));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
