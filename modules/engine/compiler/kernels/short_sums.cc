// SPDX-License-Identifier: Apache-2.0
// Sums over a last dimension of a few elements are written out: XLA has a loop of a few turns for
// each sum, where all sums of a row can be one vectorised loop. Coordinates that are columns of a
// wide table are gathered before it.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/gathered_parts.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool is_of_same_loop(const HloInstruction& value) {
  return value.IsElementwise() && value.operand_count() > 0 && value.user_count() == 1;
}

// The terms that pairs read of each point, as they lie in memory.
StridedRows points_of(HloInstruction* value) {
  return strided_rows(
      value, xla::ShapeUtil::ElementsIn(value->shape()) / value->shape().dimensions().back());
}

// True if they are copied first, so that they are contiguous.
bool is_gathered(HloInstruction* value, std::int64_t sums) {
  const StridedRows points = points_of(value);
  return sums >= tuned().short_sums_fewest_gathered &&
         points.step >= tuned().short_sums_fewest_far_apart &&
         points.step > value->shape().dimensions().back() && !points.base->IsElementwise();
}

using GatheredPoints = std::map<HloInstruction*, HloInstruction*>;

// Element `place` of the last dimension of a value, and of all that it is computed from.
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
      Instructions operands;
      for (HloInstruction* operand : value->operands()) operands.push_back(of(operand));
      return rebuild(*value, sizes, operands);
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
    sizes.pop_back();
    return reshape(slice_along(value, std::ssize(sizes), place_, 1), sizes);
  }

  std::int64_t place_;
  const HloInstruction& reduce_;
  GatheredPoints& gathers_;
  std::map<HloInstruction*, HloInstruction*> made_;
};

// True if values of few elements meet in it, each with each: no tensor of all terms is read.
bool has_pairs(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kBroadcast) return !value.dimensions().empty();
  return is_of_same_loop(value) && std::ranges::any_of(value.operands(), [](const auto* operand) {
           return has_pairs(*operand);
         });
}

// True if pairs read terms that lie far apart, also after a copy of what can be gathered.
bool is_scattered(HloInstruction* value, std::int64_t sums) {
  if (value->opcode() == HloOpcode::kBroadcast && !value->dimensions().empty()) {
    HloInstruction* const points = value->mutable_operand(0);
    return points_of(points).step >= tuned().short_sums_fewest_far_apart &&
           !is_gathered(points, sums);
  }
  return is_of_same_loop(*value) && std::ranges::any_of(value->operands(), [&](auto* operand) {
           return is_scattered(operand, sums);
         });
}

// True if XLA would compute it again for each element of a loop that repeats it. `seen`: the
// instructions looked at already.
bool is_spread_later(const HloInstruction& value, std::set<const HloInstruction*>& seen) {
  if (!seen.insert(&value).second) return false;
  return std::ranges::any_of(value.users(), [&](const auto* user) {
    return user->opcode() == HloOpcode::kBroadcast ||
           ((user->IsElementwise() || user->opcode() == HloOpcode::kReshape) &&
            is_spread_later(*user, seen));
  });
}

std::int64_t operations_in(const HloInstruction& value) {
  if (!is_of_same_loop(value)) return 0;
  std::int64_t count = 1;
  for (const HloInstruction* operand : value.operands()) {
    if (count <= tuned().short_sums_most_written_out) count += operations_in(*operand);
  }
  return count;
}

bool has_short_sums(HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || !is_for_kernels(reduce) ||
      !combines_by(reduce, HloOpcode::kAdd) || reduce.dimensions().size() != 1) {
    return false;
  }
  const xla::Shape& of = reduce.operand(0)->shape();
  const std::int64_t last = of.rank() - 1;
  const std::int64_t terms = of.dimensions(static_cast<int>(last));
  // First of all, so that what follows goes over few operations.
  if (!is_of_same_loop(*reduce.operand(0)) ||
      operations_in(*reduce.operand(0)) > tuned().short_sums_most_written_out) {
    return false;
  }
  if (terms > tuned().short_sums_most_scattered &&
      (terms > tuned().short_sums_most_terms ||
       is_scattered(reduce.mutable_operand(0), xla::ShapeUtil::ElementsIn(reduce.shape())))) {
    return false;
  }
  std::set<const HloInstruction*> seen;
  return reduce.dimensions(0) == last && has_pairs(*reduce.operand(0)) &&
         !is_spread_later(reduce, seen);
}

}  // namespace

Status write_out_short_sum(HloInstruction& reduce, PassContext& /*context*/) {
  if (!has_short_sums(reduce)) return {};
  HloInstruction* const of = reduce.mutable_operand(0);
  GatheredPoints gathers;
  HloInstruction* sum = broadcast(reduce.mutable_operand(1), reduce.shape().dimensions(), {});
  for (std::int64_t i = 0; i < of->shape().dimensions().back(); ++i) {
    sum = binary(HloOpcode::kAdd, sum, OneTerm(i, reduce, gathers).of(of));
    sum->set_metadata(reduce.metadata());
  }
  return replace(reduce, sum);
}

}  // namespace tfaot::toolkit::engine
