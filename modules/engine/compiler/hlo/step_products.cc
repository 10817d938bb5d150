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

// A step's part of a sequence: an index into one dimension.
struct PartOfSequence {
  HloInstruction* sequence = nullptr;
  HloInstruction* index = nullptr;
  std::int64_t dimension = 0;
};

// A dynamic slice of one place of one dimension, and of all of the others, perhaps reshaped.
std::optional<PartOfSequence> part_of_sequence(HloInstruction* value) {
  HloInstruction& slice = *before_reshapes(value);
  if (slice.opcode() != kDynamicSlice) return std::nullopt;
  std::optional<PartOfSequence> part;
  for (std::int64_t d = 0; d < slice.shape().rank(); ++d) {
    const auto size = size_of(slice, d);
    if (size == size_of(*slice.operand(0), d)) continue;
    if (size != 1 || part) return std::nullopt;
    part = PartOfSequence{slice.mutable_operand(0), slice.mutable_operand(1 + d), d};
  }
  return part;
}

class StepProducts {
 public:
  explicit StepProducts(const Loop& loop) : loop_(loop) {}

  // True if there are any.
  Result<bool> hoist() {
    TFAOT_TRY(split_joined_products());
    Instructions products, indices, sequences;
    for (HloInstruction* one : loop_.body().MakeInstructionPostOrder()) {
      const auto part = is_plain_product(*one) ? part_of(one->mutable_operand(0)) : std::nullopt;
      if (!part) continue;
      products.push_back(one);
      indices.push_back(part->index);
      sequences.push_back(product_of(*one, *part));
    }
    if (products.empty()) return false;
    TFAOT_ASSIGN(auto made, or_internal(xla::WhileUtil::MakeInstructionsLiveIn(&loop_.instruction(),
                                                                               sequences)));
    for (std::size_t i = 0; i < products.size(); ++i) {
      HloInstruction* product = made.while_body_instruction_map.at(products[i]);
      HloInstruction* index = made.while_body_instruction_map.at(indices[i]);
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
      if (!is_plain_product(*dot)) continue;
      HloInstruction* joined = dot->mutable_operand(0);
      if (joined->opcode() != kConcatenate ||
          joined->concatenate_dimension() !=
              dot->dot_dimension_numbers().lhs_contracting_dimensions(0) ||
          std::ranges::none_of(joined->operands(),
                               [this](auto* one) { return part_of(one).has_value(); })) {
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
    return one.user_count() > 0 && matrix_product(one) && loop_.is_fixed(*one.operand(1)) &&
           !loop_.is_fixed(*one.operand(0));
  }

  std::optional<PartOfSequence> part_of(HloInstruction* value) {
    const auto part = part_of_sequence(value);
    return part && loop_.is_fixed(*part->sequence) ? part : std::nullopt;
  }

  // The parts of all steps, which are the first dimension.
  HloInstruction* sequence_of(const HloInstruction& value, const PartOfSequence& part) {
    HloInstruction* const whole = loop_.outside(*part.sequence);
    const auto dimensions = counted(whole->shape().rank());
    const Dimensions order = joined({{part.dimension}, without(dimensions, part.dimension)});
    return reshape(before_reshapes(transpose(whole, order)),
                   joined({{size_of(*whole, part.dimension)}, value.shape().dimensions()}));
  }

  // With the steps after the rows, if the sequence has them so: then it is multiplied untransposed.
  HloInstruction* product_of(HloInstruction& dot, const PartOfSequence& part) {
    HloInstruction* left = sequence_of(*dot.operand(0), part);
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
