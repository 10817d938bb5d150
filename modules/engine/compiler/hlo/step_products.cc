// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/loop.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/simplify.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/service/tuple_simplifier.h"
#include "xla/service/while_util.h"

namespace tfaot::toolkit::engine {
namespace {

// The position of a step's part in a sequence: an index into one dimension, of this length.
struct StepPlace {
  HloInstruction* index = nullptr;
  std::int64_t length = 0;

  bool operator==(const StepPlace&) const = default;
};

struct PartOfSequence {
  StepPlace place;
  std::int64_t dimension = 0;
};

// A dynamic slice of one place of one dimension, and of all of the others.
std::optional<PartOfSequence> part_of_sequence(HloInstruction& slice) {
  if (slice.opcode() != kDynamicSlice) return std::nullopt;
  std::optional<PartOfSequence> part;
  const auto whole = slice.operand(0)->shape().dimensions();
  for (std::int64_t d = 0; d < std::ssize(whole); ++d) {
    const auto length = entry(whole, d);
    const auto size = size_of(slice, d);
    if (size == length) continue;
    if (size != 1 || part) return std::nullopt;
    part = PartOfSequence{{slice.mutable_operand(1 + d), length}, d};
  }
  return part;
}

Dimensions shifted(absl::Span<const std::int64_t> dimensions) {
  Dimensions result;
  for (const std::int64_t d : dimensions) result.push_back(d + 1);
  return result;
}

class StepProducts {
 public:
  explicit StepProducts(const Loop& loop) : loop_(loop) {}

  // True if there are any.
  Result<bool> hoist() {
    TFAOT_TRY(split_joined_products());
    std::vector<HloInstruction*> products;
    std::vector<StepPlace> places;
    std::vector<HloInstruction*> sequences;
    for (HloInstruction* one : loop_.body().MakeInstructionPostOrder()) {
      const auto place = product_place(*one);
      if (!place) continue;
      products.push_back(one);
      places.push_back(*place);
      sequences.push_back(sequence_of(*one, place->length));
    }
    if (products.empty()) return false;
    TFAOT_ASSIGN(auto made, or_internal(xla::WhileUtil::MakeInstructionsLiveIn(&loop_.instruction(),
                                                                               sequences)));
    for (std::size_t i = 0; i < products.size(); ++i) {
      HloInstruction* product = made.while_body_instruction_map.at(products[i]);
      HloInstruction* index = made.while_body_instruction_map.at(places[i].index);
      TFAOT_TRY(
          replace(*product, part_at(made.while_body_live_in_values[i], index, product->shape())));
    }
    return true;
  }

 private:
  // A step's input and its state, joined to be multiplied by one matrix: each part is multiplied by
  // its own rows of it.
  Status split_joined_products() {
    for (HloInstruction* dot : loop_.body().MakeInstructionPostOrder()) {
      if (dot->opcode() != kDot || !is_plain_product(*dot)) continue;
      HloInstruction* joined = dot->mutable_operand(0);
      if (joined->opcode() != kConcatenate ||
          joined->concatenate_dimension() !=
              dot->dot_dimension_numbers().lhs_contracting_dimensions(0) ||
          std::ranges::none_of(joined->operands(),
                               [this](auto* one) { return place_of(*one).has_value(); })) {
        continue;
      }
      TFAOT_TRY(replace_joined(*dot, *joined));
    }
    return {};
  }

  static Status replace_joined(HloInstruction& dot, const HloInstruction& joined) {
    const std::int64_t depth = dot.dot_dimension_numbers().rhs_contracting_dimensions(0);
    std::int64_t first = 0;
    HloInstruction* sum = nullptr;
    for (HloInstruction* part : joined.operands()) {
      const std::int64_t count = size_of(*part, joined.concatenate_dimension());
      HloInstruction* const rows = slice_along(dot.mutable_operand(1), depth, first, count);
      sum = accumulate(kAdd, sum, rebuild(dot, dot.shape().dimensions(), {part, rows}));
      first += count;
    }
    return replace(dot, sum);
  }

  // A product of one tensor with one fixed matrix.
  bool is_plain_product(const HloInstruction& one) {
    if (one.opcode() != kDot || one.user_count() == 0) return false;
    const auto& numbers = one.dot_dimension_numbers();
    return numbers.lhs_batch_dimensions_size() == 0 &&
           numbers.lhs_contracting_dimensions_size() == 1 && loop_.is_fixed(*one.operand(1)) &&
           !loop_.is_fixed(*one.operand(0));
  }

  std::optional<StepPlace> product_place(HloInstruction& one) {
    return is_plain_product(one) ? place_of(*one.mutable_operand(0)) : std::nullopt;
  }

  // The place in sequences of the parts that the value is computed from, and from nothing else.
  std::optional<StepPlace> place_of(HloInstruction& value) {
    if (!value.shape().IsArray() || loop_.is_fixed(value)) return std::nullopt;
    if (const auto part = part_of_sequence(value)) {
      return loop_.is_fixed(*value.operand(0)) ? std::make_optional(part->place) : std::nullopt;
    }
    const bool moves = xla::HloPredicateIsOp<kReshape, kTranspose, kSlice>(&value);
    if (value.operand_count() == 0 || xla::HloPredicateIsOp<kMap, kRng>(&value) ||
        !(moves || value.IsElementwise())) {
      return std::nullopt;
    }
    std::optional<StepPlace> place;
    for (HloInstruction* operand : value.operands()) {
      if (loop_.is_fixed(*operand)) continue;
      const auto found = place_of(*operand);
      if (!found || (place && *place != *found)) return std::nullopt;
      place = found;
    }
    return place;
  }

  // The value for all places, which are the first dimension. REQUIRES: place_of() or
  // product_place() of this length.
  HloInstruction* sequence_of(HloInstruction& value, std::int64_t length) {
    const Dimensions sizes = joined({{length}, value.shape().dimensions()});
    if (loop_.is_fixed(value)) return spread(value, sizes);
    if (const auto part = part_of_sequence(value)) {
      HloInstruction* whole = loop_.outside(*value.mutable_operand(0));
      Dimensions order = counted(whole->shape().rank());
      std::rotate(order.begin(), order.begin() + part->dimension,
                  order.begin() + part->dimension + 1);
      return reshape(before_reshapes(transpose(whole, order)), sizes);
    }
    HloInstruction* first = sequence_of(*value.mutable_operand(0), length);
    switch (value.opcode()) {
      case kDot:
        return product_of(value, first);
      case kReshape:
        return reshape(before_reshapes(first), sizes);
      case kTranspose:
        return transpose(first, joined({{0}, shifted(value.dimensions())}));
      case kSlice:
        return slice(first, joined({{0}, value.slice_starts()}),
                     joined({{length}, value.slice_limits()}),
                     joined({{1}, value.slice_strides()}));
      default:
        break;
    }
    Instructions operands = {first};
    for (std::int64_t i = 1; i < value.operand_count(); ++i) {
      operands.push_back(sequence_of(*value.mutable_operand(i), length));
    }
    return rebuild(value, sizes, operands);
  }

  HloInstruction* spread(HloInstruction& value, absl::Span<const std::int64_t> sizes) {
    if (value.opcode() == kBroadcast) {
      return broadcast(loop_.outside(*value.mutable_operand(0)), sizes,
                       shifted(value.dimensions()));
    }
    return broadcast(loop_.outside(value), sizes, counted(value.shape().rank(), 1));
  }

  // With the steps after the rows, if the sequence has them so: then it is multiplied untransposed.
  HloInstruction* product_of(HloInstruction& dot, HloInstruction* left) {
    xla::DotDimensionNumbers numbers = dot.dot_dimension_numbers();
    numbers.set_lhs_contracting_dimensions(0, numbers.lhs_contracting_dimensions(0) + 1);
    const std::int64_t last = left->shape().rank() - 1;
    Dimensions order;
    if (left->opcode() == kTranspose && left->dimensions().back() == last &&
        numbers.lhs_contracting_dimensions(0) == last) {
      order = order_of(*left);
      left = left->mutable_operand(0);
    }
    HloInstruction* const made = xla::MakeDotHlo(left, loop_.outside(*dot.mutable_operand(1)),
                                                 numbers, dot.precision_config(), type_of(dot))
                                     .value();
    made->set_metadata(dot.metadata());
    if (order.empty()) return made;
    order.pop_back();  // the depth
    for (std::int64_t d = last; d < made->shape().rank(); ++d) order.push_back(d);
    return transpose(made, order);
  }

  static HloInstruction* part_at(HloInstruction* sequence, HloInstruction* index,
                                 const xla::Shape& shape) {
    const xla::Shape part = resized(sequence->shape(), 0, 1);
    Instructions starts(dimensions_of(*sequence).size(), scalar_next_to(index, type_of(*index), 0));
    starts.front() = index;
    return reshape(add_next_to(index, HloInstruction::CreateDynamicSlice(part, sequence, starts,
                                                                         part.dimensions())),
                   shape.dimensions());
  }

  Loop loop_;
};

std::vector<HloInstruction*> loops_of(const xla::HloModule& module) {
  std::vector<HloInstruction*> loops;
  absl::c_copy_if(instructions_of(module), std::back_inserter(loops),
                  [](const auto* one) { return one->opcode() == kWhile; });
  return loops;
}

}  // namespace

// A loop that got products is a new instruction, and so are the loops in its body: those come
// first.
Status hoist_step_products(xla::HloModule& module, PassContext& /*context*/) {
  for (std::size_t i = 0;; ++i) {
    const auto loops = loops_of(module);
    if (i >= loops.size()) return {};
    const auto loop = Loop::of(*loops[i]);
    if (!loop) continue;
    TFAOT_ASSIGN(const bool is_new, StepProducts(*loop).hoist());
    // The old body counts as long as it is there, and the new state is computed from the old one.
    if (!is_new) continue;
    xla::TupleSimplifier tuples;
    TFAOT_TRY(checked(tuples.Run(&module, {}).status()));
    TFAOT_TRY(remove_dead_code(module));
  }
}

}  // namespace tfaot::toolkit::engine
