// SPDX-License-Identifier: Apache-2.0
// Values that depend on weights alone and are repeated for the batch, such as a class token and its
// normalisation, are computed once and then repeated. In a batch of one row nothing repeats them,
// so they are folded: otherwise that row would have other bits than in other batches.
#include <algorithm>
#include <map>
#include <set>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"

namespace tfaot::toolkit::engine {
namespace {

// A value as the broadcast of one that is known ahead.
struct RepeatedWeight {
  HloInstruction* once;
  Dimensions kept;  // where its dimensions are in the value
  bool has_weight;
  bool is_computed = false;  // by more than moving elements
};

class RepeatedWeights {
 public:
  RepeatedWeights(xla::HloComputation& entry, const WeightValues& values)
      : entry_(entry), values_(values) {}

  Status run() {
    const auto all = entry_.MakeInstructionPostOrder();
    for (HloInstruction* one : all) {
      if (auto made = repeated(*one)) found_.emplace(one, std::move(*made));
    }
    for (HloInstruction* one : all) {
      const RepeatedWeight* const value = find(one);
      const auto is_inside = [this](const auto* user) { return find(user) != nullptr; };
      if (value == nullptr || !value->is_computed || !value->has_weight ||
          (!one->IsRoot() && absl::c_all_of(one->users(), is_inside))) {
        continue;
      }
      TFAOT_TRY(replace(*one, broadcast(value->once, dimensions_of(*one), value->kept)));
    }
    return {};
  }

 private:
  using Found = std::optional<RepeatedWeight>;

  const RepeatedWeight* find(const HloInstruction* value) const {
    const auto found = found_.find(value);
    return found == found_.end() ? nullptr : &found->second;
  }

  Found repeated(HloInstruction& one) const {
    if (!one.shape().IsArray() || values_.is_known(&one)) return {};
    if (one.opcode() == kBroadcast) return repeated_broadcast(one);
    if (one.IsElementwise() && one.operand_count() > 0 && !one.HasSideEffect() &&
        one.called_computations().empty()) {
      return repeated_elements(one);
    }
    const RepeatedWeight* const x = one.operand_count() == 0 ? nullptr : find(one.operand(0));
    if (x == nullptr) return {};
    switch (one.opcode()) {
      case kReshape:
        return repeated_reshape(one, *x);
      case kTranspose:
        return repeated_transpose(one, *x);
      case kReduce:
        return repeated_reduction(one, *x);
      case kDot:
        return repeated_product(one, *x);
      case kFft:
        return repeated_transform(one, *x);
      default:
        return {};
    }
  }

  Found repeated_broadcast(HloInstruction& one) const {
    if (!absl::c_is_sorted(one.dimensions())) return {};
    HloInstruction* const x = one.mutable_operand(0);
    if (values_.is_known(x)) {
      const Dimensions kept(one.dimensions().begin(), one.dimensions().end());
      return RepeatedWeight{x, kept, values_.is_weight(x)};
    }
    const RepeatedWeight* const of = find(x);
    if (of == nullptr) return {};
    return RepeatedWeight{of->once, picked(one.dimensions(), of->kept), of->has_weight,
                          of->is_computed};
  }

  // The dimensions of all operands together.
  Found repeated_elements(HloInstruction& one) const {
    std::set<std::int64_t> all;
    bool has_weight = false;
    for (const HloInstruction* operand : one.operands()) {
      if (operand->shape().rank() == 0 && values_.is_known(operand)) continue;
      const RepeatedWeight* const x = find(operand);
      if (x == nullptr || operand->shape().rank() == 0) return {};
      all.insert(x->kept.begin(), x->kept.end());
      has_weight = has_weight || x->has_weight;
    }
    const Dimensions kept(all.begin(), all.end());
    if (std::ssize(kept) == one.shape().rank()) return {};
    const Dimensions sizes = picked(one.shape().dimensions(), kept);
    HloInstruction* const made = rebuild_on(one, sizes, [&](HloInstruction* operand) {
      if (operand->shape().rank() == 0) return operand;
      const RepeatedWeight& x = *find(operand);
      return x.kept == kept ? x.once : broadcast(x.once, sizes, places_of(x.kept, kept));
    });
    return RepeatedWeight{made, kept, has_weight, true};
  }

  // The dimensions of a group are all kept, or all repeated.
  static Found repeated_reshape(HloInstruction& one, const RepeatedWeight& x) {
    Dimensions kept, sizes;
    for (const ReshapeGroup& group : groups_of(one)) {
      Dimensions longer = group.from;
      std::erase_if(longer, [&](std::int64_t d) { return size_of(*one.operand(0), d) == 1; });
      const auto count = absl::c_count_if(
          longer, [&](std::int64_t d) { return absl::c_linear_search(x.kept, d); });
      if (count == 0) continue;
      if (count != std::ssize(longer)) return {};
      for (const std::int64_t d : group.to) {
        kept.push_back(d);
        sizes.push_back(size_of(one, d));
      }
    }
    return RepeatedWeight{reshape(x.once, sizes), kept, x.has_weight, x.is_computed};
  }

  static Found repeated_transpose(HloInstruction& one, const RepeatedWeight& x) {
    Dimensions kept, order;
    for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
      const std::int64_t place = place_among(x.kept, one.dimensions(static_cast<int>(d)));
      if (place < 0) continue;
      kept.push_back(d);
      order.push_back(place);
    }
    return RepeatedWeight{transpose(x.once, order), kept, x.has_weight, x.is_computed};
  }

  Found repeated_reduction(HloInstruction& one, const RepeatedWeight& x) const {
    const Dimensions reduced(one.dimensions().begin(), one.dimensions().end());
    const Dimensions places = places_of(reduced, x.kept);
    if (one.operand_count() != 2 || !values_.is_known(one.operand(1)) ||
        absl::c_linear_search(places, -1)) {
      return {};
    }
    Dimensions left = x.kept;
    std::erase_if(left, [&](std::int64_t d) { return absl::c_linear_search(reduced, d); });
    return RepeatedWeight{
        engine::reduce(x.once, one.mutable_operand(1), places, one.to_apply()),
        places_of(left, other_dimensions(one.operand(0)->shape().rank(), reduced)), x.has_weight,
        true};
  }

  Found repeated_product(HloInstruction& one, const RepeatedWeight& x) const {
    const auto product = matrix_product(one);
    if (!product || product->left != one.operand(0) || !values_.is_known(product->matrix)) {
      return {};
    }
    const std::int64_t rank = product->left->shape().rank();
    const std::int64_t depth = place_among(x.kept, product->left_depth);
    if (depth < 0) return {};
    Dimensions kept =
        places_of(without(x.kept, depth), other_dimensions(rank, {product->left_depth}));
    kept.push_back(rank - 1);  // the columns
    return RepeatedWeight{
        contract(x.once, depth, product->matrix, product->matrix_depth, one.precision_config()),
        kept, true, true};
  }

  // Along dimensions that are kept.
  static Found repeated_transform(HloInstruction& one, const RepeatedWeight& x) {
    const std::int64_t count = std::ssize(one.fft_length());
    for (const auto d : counted(count, one.shape().rank() - count)) {
      if (!absl::c_linear_search(x.kept, d)) return {};
    }
    return RepeatedWeight{rebuild(one, picked(one.shape().dimensions(), x.kept), {x.once}), x.kept,
                          x.has_weight, true};
  }

  static Dimensions places_of(const Dimensions& values, const Dimensions& among) {
    Dimensions places;
    for (const std::int64_t value : values) places.push_back(place_among(among, value));
    return places;
  }

  xla::HloComputation& entry_;
  const WeightValues& values_;
  std::map<const HloInstruction*, RepeatedWeight> found_;
};

}  // namespace

Status compute_weights_once(xla::HloModule& module, PassContext& context) {
  return RepeatedWeights(*module.entry_computation(), context.values()).run();
}

}  // namespace tfaot::toolkit::engine
