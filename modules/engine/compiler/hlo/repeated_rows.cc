// SPDX-License-Identifier: Apache-2.0
// Products with a weight whose left side repeats rows of smaller tensors, side by side, as nets on
// graphs have them for each pair of neighbours. With a product for each tensor,
//
//   [x_i, x_j - x_i] W = x_i (W1 - W2) + x_j W2,
//
// the products have a row for each node, and their repeated rows are added for each pair. A product
// stays where adding costs more than the saved multiplications. A difference of rows stays where it
// may cancel more digits than the rest of the product hides: where neither tensor is another part
// of the same left side, and for the model's inputs themselves. Nothing changes where weights may
// not be joined.
#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"

namespace tfaot::toolkit::engine {
namespace {

std::int64_t row_size(const HloInstruction& value) { return value.shape().dimensions().back(); }

std::int64_t number_of_rows(const HloInstruction& value) {
  return elements_of(value) / row_size(value);
}

Dimensions with_row_size(const HloInstruction& value, std::int64_t size) {
  Dimensions sizes = dimensions_of(value);
  sizes.back() = size;
  return sizes;
}

bool gathers_rows(const HloInstruction& gather) {
  const auto& numbers = gather.gather_dimension_numbers();
  const std::int64_t last = gather.operand(0)->shape().rank() - 1;
  return !absl::c_linear_search(numbers.collapsed_slice_dims(), last) &&
         !absl::c_linear_search(numbers.start_index_map(), last) &&
         entry(gather.gather_slice_sizes(), last) == row_size(*gather.operand(0)) &&
         !numbers.offset_dims().empty() &&
         *numbers.offset_dims().rbegin() == gather.shape().rank() - 1;
}

// True if the operation puts rows of its operand elsewhere, perhaps several times, and does nothing
// else.
bool repeats_rows(const HloInstruction& one) {
  if (one.operand_count() == 0 || one.shape().rank() == 0 || one.operand(0)->shape().rank() == 0) {
    return false;
  }
  const std::int64_t last = one.shape().rank() - 1;
  switch (one.opcode()) {
    case kReshape:
      return row_size(one) == row_size(*one.operand(0));
    case kBroadcast:
    case kTranspose:
      return one.dimensions().back() == last;
    case kGather:
      return gathers_rows(one);
    default:
      return false;
  }
}

// The tensor with the fewest rows that `value` repeats; it itself if none has fewer.
HloInstruction* source_of(HloInstruction* value) {
  HloInstruction* fewest = value;
  for (HloInstruction* one = value; repeats_rows(*one);) {
    one = one->mutable_operand(0);
    if (number_of_rows(*one) <= number_of_rows(*fewest)) fewest = one;
  }
  return number_of_rows(*fewest) < number_of_rows(*value) ? fewest : value;
}

// `value`, computed from other rows than those of its source.
HloInstruction* repeated(HloInstruction& value, const HloInstruction& source,
                         HloInstruction* rows) {
  if (&value == &source) return rows;
  rows = repeated(*value.mutable_operand(0), source, rows);
  const Dimensions sizes = with_row_size(value, row_size(*rows));
  if (value.opcode() != kGather) return rebuild(value, sizes, {rows});
  Dimensions slice(value.gather_slice_sizes().begin(), value.gather_slice_sizes().end());
  slice.back() = row_size(*rows);
  return add_next_to(
      rows, HloInstruction::CreateGather(shape_of(value.shape().element_type(), sizes), rows,
                                         value.mutable_operand(1), value.gather_dimension_numbers(),
                                         slice, false));
}

// rows * weight[depth, columns].
struct RowProduct {
  HloInstruction* rows;
  HloInstruction* weight;
};

bool is_pointwise(const HloInstruction& convolution) {
  const auto& numbers = convolution.convolution_dimension_numbers();
  const std::int64_t last = convolution.shape().rank() - 1;
  const auto& window = convolution.window().dimensions();
  return numbers.input_feature_dimension() == last && numbers.output_feature_dimension() == last &&
         numbers.input_batch_dimension() == numbers.output_batch_dimension() &&
         std::ranges::equal(numbers.input_spatial_dimensions(),
                            numbers.output_spatial_dimensions()) &&
         convolution.feature_group_count() == 1 && convolution.batch_group_count() == 1 &&
         std::ranges::all_of(window, is_point);
}

std::optional<RowProduct> row_product_of(HloInstruction& product, const WeightValues& values) {
  const bool is_dot = product.opcode() == kDot;
  if ((!is_dot && product.opcode() != kConvolution) || values.is_known(&product) ||
      !values.is_known(product.operand(1)) || !has_kernels(type_of(product)) ||
      elements_of(*product.operand(0)) == 0) {
    return {};
  }
  if (is_dot) {
    const auto dot = matrix_product(product);
    if (!dot || !dot->sums_last()) return {};
    return RowProduct{dot->left,
                      transpose(dot->matrix, {dot->matrix_depth, 1 - dot->matrix_depth})};
  }
  if (!is_pointwise(product)) return {};
  HloInstruction* const rows = product.mutable_operand(0);
  return RowProduct{rows, reshape(transpose(product.mutable_operand(1), filter_order(product)),
                                  {row_size(*rows), row_size(product)})};
}

// Some columns of a product's left side, which are multiplied by as many rows of its weight.
struct RowPart {
  HloInstruction* value;
  std::int64_t first;
  bool is_negative = false;
};

// True for the same rows in the same order. A batch of one row leaves transposes that move nothing.
bool keeps_rows_in_place(const HloInstruction& one) {
  const bool moves_nothing =
      one.opcode() == kReshape ||
      (one.opcode() == kTranspose && !moves_elements(one.operand(0)->shape(), one.dimensions()));
  return moves_nothing && repeats_rows(one);
}

// Concatenated, they are `value`.
void take_parts(HloInstruction* value, std::int64_t first, std::vector<RowPart>& parts) {
  HloInstruction* inner = value;
  while (keeps_rows_in_place(*inner)) inner = inner->mutable_operand(0);
  if (inner->opcode() != kConcatenate ||
      inner->concatenate_dimension() != inner->shape().rank() - 1) {
    parts.push_back({value, first});
    return;
  }
  for (HloInstruction* operand : inner->operands()) {
    take_parts(operand, first, parts);
    first += row_size(*operand);
  }
}

// The operands whose numbers it has as they are: moved, chosen or turned around, but not rounded.
std::vector<const HloInstruction*> kept_operands(const HloInstruction& value) {
  if (value.opcode() == kGather) return {value.operand(0)};
  if (value.opcode() == kSelect) return {value.operand(1), value.operand(2)};
  const bool keeps_all = xla::HloPredicateIsOp<kBroadcast, kClamp, kConcatenate, kMaximum, kMinimum,
                                               kNegate, kPad, kReshape, kSlice, kTranspose>(&value);
  if (!keeps_all) return {};
  return {value.operands().begin(), value.operands().end()};
}

// True if it has numbers of the model's inputs as they are.
bool has_inputs(const HloInstruction& value) {
  return absl::c_any_of(reached_from(value, kept_operands),
                        [](const auto* one) { return one->opcode() == kParameter; });
}

// Sums and differences of repeated rows become two parts. A difference stays where splitting may
// lose digits: for inputs themselves, and for rows that are no other part, as then the rest of the
// product may be smaller. Computed values are rounded already, by as much as a difference of their
// products.
std::vector<RowPart> parts_of_rows(HloInstruction* rows) {
  std::vector<RowPart> whole;
  take_parts(rows, 0, whole);
  std::set<const HloInstruction*> sources;
  for (const RowPart& part : whole) sources.insert(source_of(part.value));
  std::vector<RowPart> parts;
  for (const RowPart& part : whole) {
    const HloInstruction& value = *part.value;
    const bool is_difference = value.opcode() == kSubtract;
    const bool is_split =
        (is_difference || value.opcode() == kAdd) &&
        std::ranges::all_of(value.operands(), [&](HloInstruction* operand) {
          if (!repeats_rows(*operand)) return false;
          const HloInstruction* const source = source_of(operand);
          return !is_difference || (sources.contains(source) && !has_inputs(*source));
        });
    if (!is_split) {
      parts.push_back(part);
      continue;
    }
    parts.push_back({part.value->mutable_operand(0), part.first});
    parts.push_back({part.value->mutable_operand(1), part.first, is_difference});
  }
  return parts;
}

// A term of the sum: a product of `source` and `weight`, repeated to the rows of `value`.
struct Summand {
  HloInstruction* value;
  HloInstruction* source;
  HloInstruction* weight;
  bool is_repeated() const { return value != source; }
};

class RepeatedProduct {
 public:
  RepeatedProduct(HloInstruction& product, const RowProduct& of, const WeightValues& values)
      : product_(product), of_(of), values_(values), last_(&product) {}

  Status replace_all() {
    const std::vector<RowPart> parts = parts_of_rows(of_.rows);
    if (!pays(parts)) return {};
    take_numbers_of_columns();
    HloInstruction* sum = nullptr;
    for (const Summand& summand : summands(parts)) {
      HloInstruction* made = contract(summand.source, summand.source->shape().rank() - 1,
                                      summand.weight, 0, product_.precision_config());
      if (sum == nullptr && shift_ != nullptr) {
        made = binary_along(kAdd, made, shift_, made->shape().rank() - 1);
      }
      made =
          reshape(repeated(*summand.value, *summand.source, made), product_.shape().dimensions());
      sum = accumulate(kAdd, sum, made);
    }
    return replace(*last_, sum);
  }

 private:
  HloInstruction* source_to_multiply(HloInstruction* value) const {
    HloInstruction* const source = source_of(value);
    return values_.is_known(source) ? value : source;
  }

  bool pays(const std::vector<RowPart>& parts) const {
    const std::int64_t rows = number_of_rows(product_);
    std::int64_t cost = 0;
    std::set<const HloInstruction*> seen;
    for (const RowPart& part : parts) {
      if (!seen.insert(part.value).second) continue;
      const HloInstruction* const source = source_to_multiply(part.value);
      cost += number_of_rows(*source) * row_size(*source);
      if (source != part.value) cost += rows * tuned().repeated_rows_cost;
    }
    return cost < rows * row_size(*of_.rows);
  }

  // Scales and shifts of columns that follow, as those of a batch normalisation.
  void take_numbers_of_columns() {
    while (HloInstruction* const user = only_user(*last_)) {
      if (user->opcode() == kReshape && repeats_rows(*user)) {
        last_ = user;
        continue;
      }
      const auto step = column_step(*user, last_, values_);
      if (!step) return;
      if (step->is_scale) {
        scale_ = accumulate(kMultiply, scale_, step->numbers);
        if (shift_ != nullptr) shift_ = binary(kMultiply, shift_, step->numbers);
      } else {
        shift_ = accumulate(kAdd, shift_, step->numbers);
      }
      last_ = user;
    }
  }

  // Repeated ones first: they are smaller, and take the shift. The others are one product.
  std::vector<Summand> summands(const std::vector<RowPart>& parts) {
    std::vector<Summand> made;
    Instructions others;
    Instructions weights;
    for (const RowPart& part : parts) {
      HloInstruction* const source = source_to_multiply(part.value);
      HloInstruction* const weight = weight_of(part);
      const auto same = std::ranges::find(made, part.value, &Summand::value);
      if (same != made.end()) {
        same->weight = binary(kAdd, same->weight, weight);
      } else if (source != part.value) {
        made.push_back({part.value, source, weight});
      } else {
        others.push_back(reshape(part.value, with_row_size(*of_.rows, row_size(*part.value))));
        weights.push_back(weight);
      }
    }
    if (!others.empty()) {
      HloInstruction* const rest = concatenate(others, others.front()->shape().rank() - 1);
      made.push_back({rest, rest, concatenate(weights, 0)});
    }
    return made;
  }

  HloInstruction* weight_of(const RowPart& part) const {
    HloInstruction* weight = slice_along(of_.weight, 0, part.first, row_size(*part.value));
    if (part.is_negative) weight = negate(weight);
    if (scale_ == nullptr) return weight;
    return binary_along(kMultiply, weight, scale_, 1);
  }

  HloInstruction& product_;
  RowProduct of_;
  const WeightValues& values_;
  HloInstruction* last_;  // what is replaced: the product, after scales and shifts
  HloInstruction* scale_ = nullptr;
  HloInstruction* shift_ = nullptr;
};

// ---- Scales of columns before a product.

// x * scale + shift, both with a number for each column; null: none.
struct ScaledInput {
  HloInstruction* x;
  HloInstruction* scale = nullptr;
  HloInstruction* shift = nullptr;
};

// Removes the last operation; false: there is none.
bool take_operation(ScaledInput& scaled, const WeightValues& values) {
  HloInstruction* const one = scaled.x;
  // With one row the product is that of a vector.
  if (one->opcode() == kReshape && one->user_count() == 1 && one->shape().rank() == 1 &&
      one->operand(0)->shape().rank() > 0 &&
      one->operand(0)->shape().dimensions().back() == one->shape().dimensions(0)) {
    scaled.x = one->mutable_operand(0);
    return true;
  }
  if (only_user(*one) == nullptr || one->operand_count() != 2) return false;
  for (HloInstruction* operand : one->operands()) {
    const auto step = values.is_known(operand) ? std::nullopt : column_step(*one, operand, values);
    if (!step) continue;
    if (step->is_scale) {
      scaled.scale = accumulate(kMultiply, scaled.scale, step->numbers);
    } else {
      HloInstruction* const shift =
          scaled.scale == nullptr ? step->numbers : binary(kMultiply, step->numbers, scaled.scale);
      scaled.shift = accumulate(kAdd, scaled.shift, shift);
    }
    scaled.x = operand;
    return true;
  }
  return false;
}

// Not the end of a normalisation, whose kernels have scale and shift themselves.
bool is_activation(const HloInstruction& value) {
  return xla::HloPredicateIsOp<kClamp, kLogistic, kMaximum, kSelect, kTanh>(&value);
}

// True for a function of what a product computes.
bool follows_product(const HloInstruction& value) {
  constexpr std::size_t kMostOperations = 32;
  const auto is_product = [](const HloInstruction* one) {
    return one->opcode() == kDot || one->opcode() == kConvolution;
  };
  const auto before = [&](const HloInstruction& one) {
    const bool passes = !is_product(&one) && (one.IsElementwise() || one.opcode() == kReshape);
    return passes ? operands_of(one) : Instructions();
  };
  return absl::c_any_of(reached_from(value, before, kMostOperations), is_product);
}

}  // namespace

Status multiply_before_repeating(HloInstruction& product, PassContext& context) {
  if (!context.choices.may_join_weights() || !product.parent()->IsEntryComputation()) return {};
  const WeightValues& values = context.values();
  const auto found = row_product_of(product, values);
  return found ? RepeatedProduct(product, *found, values).replace_all() : Status();
}

Status move_scale_into_weight(HloInstruction& dot, PassContext& context) {
  const auto layer = matrix_product(dot);
  if (!context.choices.may_join_weights() || !layer || !layer->sums_last()) return {};
  const WeightValues& values = context.values();
  if (values.is_known(&dot) || !values.is_known(layer->matrix) || !has_kernels(type_of(dot)) ||
      !dot.parent()->IsEntryComputation()) {
    return {};
  }
  ScaledInput scaled{layer->left};
  while (take_operation(scaled, values)) {
  }
  if (scaled.x == layer->left || !is_activation(*scaled.x) || !follows_product(*scaled.x) ||
      (scaled.scale == nullptr && scaled.shift == nullptr)) {
    return {};
  }
  HloInstruction* weight = layer->matrix;
  if (scaled.scale != nullptr) {
    weight = binary_along(kMultiply, weight, scaled.scale, layer->matrix_depth);
  }
  HloInstruction* made = rebuild(dot, dot.shape().dimensions(),
                                 {reshape(scaled.x, layer->left->shape().dimensions()), weight});
  if (scaled.shift != nullptr) {
    HloInstruction* const bias =
        contract(scaled.shift, 0, layer->matrix, layer->matrix_depth, dot.precision_config());
    made = binary_along(kAdd, made, bias, dot.shape().rank() - 1);
  }
  return replace(dot, made);
}

}  // namespace tfaot::toolkit::engine
