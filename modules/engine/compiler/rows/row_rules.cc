// SPDX-License-Identifier: Apache-2.0
// The rules of row_flow.h, by opcode: the rows of an operation's result, from those of its
// operands.
#include <algorithm>
#include <array>
#include <optional>

#include "absl/algorithm/container.h"
#include "compiler/hlo/match.h"
#include "compiler/rows/row_flow.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using absl::c_linear_search;
using xla::HloInstruction;
using xla::HloOpcode;
using Sources = RowFlow::Sources;

constexpr const char* kSum = "adds up over the rows of the batch";
constexpr const char* kWindow = "moves a window over the rows of the batch";
constexpr const char* kOtherRows = "adds other rows to those of the batch";
constexpr const char* kLargest = "picks the largest rows of the batch";
constexpr const char* kOneMatrix = "takes the batch as one matrix";

Axis even_axis(std::int64_t size, bool is_same) {
  return axis_of(size, is_same ? Along::kSame : Along::kVaries);
}

// All results of an operation that returns one or a tuple of them.
RowFact all_results(const HloInstruction& one, const RowFact& each) {
  if (each.cause != nullptr) return unknown(one.shape(), each.cause);
  if (!one.shape().IsTuple()) return each;
  RowFact fact;
  fact.elements.assign(static_cast<std::size_t>(one.shape().tuple_shapes_size()), each);
  return fact;
}

// ---- Control flow.

RowFact parameter_rows(const HloInstruction& one, RowFlow& flow) {
  return entry(flow.arguments(), one.parameter_number());
}

RowFact constant_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact = is_worth_knowing(one.shape()) ? known_fact(Value(Value(), &one.literal()))
                                               : fact_of(one.shape(), Along::kVaries);
  if (flow.study().sizes().numbers.contains(&one)) {
    fact.cause = flow.study().unclear(one, "depends on how many rows the batch has");
  }
  return fact;
}

RowFact tuple_rows(const HloInstruction& one, RowFlow& flow) {
  return {.elements = flow.of_operands(one)};
}

RowFact element_rows(const HloInstruction& one, RowFlow& flow) {
  return entry(flow.of(one.operand(0)).elements, one.tuple_index());
}

RowFact passed_on(const HloInstruction& one, RowFlow& flow) { return flow.of(one.operand(0)); }

RowFact called_rows(const HloInstruction& one, RowFlow& flow) {
  return RowFlow(flow.study()).run(*one.called_computations().front(), flow.of_operands(one));
}

RowFact branch_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& choice = flow.of(one.operand(0));
  if (choice.cause != nullptr) return unknown(one.shape(), choice.cause);
  std::optional<RowFact> all;
  for (int i = 0; i < one.branch_count(); ++i) {
    const RowFact made =
        RowFlow(flow.study()).run(*one.branch_computation(i), {flow.of(one.operand(i + 1))});
    all = all ? flow.study().join(one, *all, made) : made;
  }
  return *all;
}

// True if nothing new is known.
bool is_equal(const RowFact& a, const RowFact& b) {
  return a.axes == b.axes && (a.cause == nullptr) == (b.cause == nullptr) &&
         (a.known == nullptr) == (b.known == nullptr) &&
         std::ranges::equal(a.elements, b.elements, is_equal);
}

bool is_state_element(const HloInstruction& one, std::int64_t i) {
  return one.opcode() == HloOpcode::kGetTupleElement &&
         one.operand(0)->opcode() == HloOpcode::kParameter && one.tuple_index() == i;
}

// The element of a loop's state that says for each row whether it goes on: the loop ends when no
// row does, and a row that is done stays so.
std::optional<std::int64_t> rows_that_go_on(const HloInstruction& loop) {
  const HloInstruction& ends = *loop.while_condition()->root_instruction();
  const HloInstruction& root = *loop.while_body()->root_instruction();
  if (ends.opcode() != HloOpcode::kReduce || root.opcode() != HloOpcode::kTuple ||
      ends.to_apply()->root_instruction()->opcode() != HloOpcode::kOr ||
      ends.operand(0)->opcode() != HloOpcode::kGetTupleElement) {
    return std::nullopt;
  }
  const std::int64_t flag = ends.operand(0)->tuple_index();
  const HloInstruction& next = *root.operand(flag);
  const bool stays =
      next.opcode() == HloOpcode::kAnd &&
      (is_state_element(*next.operand(0), flag) || is_state_element(*next.operand(1), flag));
  return stays ? std::optional(flag) : std::nullopt;
}

// True if an element of a loop's state never changes, or not in rows that are done.
bool is_kept_when_done(const HloInstruction& loop, std::int64_t i) {
  const HloInstruction& root = *loop.while_body()->root_instruction();
  if (root.opcode() != HloOpcode::kTuple) return false;
  const HloInstruction& next = *root.operand(i);
  if (is_state_element(next, i)) return true;
  const auto flag = rows_that_go_on(loop);
  if (!flag || i == *flag) return flag.has_value();
  if (next.opcode() != HloOpcode::kSelect || !is_state_element(*next.operand(2), i)) return false;
  const HloInstruction* choice = next.operand(0);
  while (choice->opcode() == HloOpcode::kBroadcast || choice->opcode() == HloOpcode::kReshape) {
    choice = choice->operand(0);
  }
  return is_state_element(*choice, *flag);
}

// The loop's state is joined with its first value until nothing new is found.
RowFact loop_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact state = flow.of(one.operand(0));
  RowStudy& study = flow.study();
  while (true) {
    const RowFact again = RowFlow(study).run(*one.while_condition(), {state});
    const RowFact next = RowFlow(study).run(*one.while_body(), {state});
    const RowFact joined = study.join(one, state, next);
    if (!is_equal(joined, state)) {
      state = joined;
      continue;
    }
    if (again.cause == nullptr) return state;
    // The rows together decide the number of turns: everything that changes in a turn may depend on
    // it, but for rows that stay as they are once they are done.
    const RowFact before = state;
    for (std::size_t i = 0; i < state.elements.size(); ++i) {
      RowFact& element = state.elements[i];
      if (is_kept_when_done(one, static_cast<std::int64_t>(i))) continue;
      if (element.has_rows()) study.set_waiting(one, before);
      element = unknown(one.shape().tuple_shapes(static_cast<int>(i)), again.cause);
    }
    return state;
  }
}

// ---- Moves: each element of the result is one of the operand.

RowFact reshape_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& from = flow.of(one.operand(0));
  auto axes = regroup(from.axes, one.shape().dimensions());
  if (axes) return {.axes = std::move(*axes)};
  if (!from.has_rows()) return fact_of(one.shape(), Along::kVaries);
  return flow.not_clear(one, "splits the batch, but not by rows");
}

RowFact broadcast_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact = fact_of(one.shape(), Along::kSame);
  for (std::int64_t i = 0; i < std::ssize(one.dimensions()); ++i) {
    entry(fact.axes, one.dimensions(i)) = flow.of(one.operand(0)).axis(i);
  }
  return fact;
}

RowFact transpose_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (const auto d : one.dimensions()) fact.axes.push_back(flow.of(one.operand(0)).axis(d));
  return fact;
}

RowFact slice_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const auto part = cut(flow.of(one.operand(0)).axis(d),
                          {one.slice_starts(d), one.slice_limits(d), one.slice_strides(d)});
    if (!part) return flow.mixed(one, "takes some rows of the batch by their position");
    fact.axes.push_back(*part);
  }
  return fact;
}

RowFact pad_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const auto& padding = one.padding_config().dimensions(static_cast<int>(d));
    const Axis& from = flow.of(one.operand(0)).axis(d);
    const bool stays = padding.edge_padding_low() == 0 && padding.edge_padding_high() == 0 &&
                       padding.interior_padding() == 0;
    if (!stays && has_rows(from)) return flow.not_clear(one, kOtherRows);
    fact.axes.push_back(stays ? from : axis_of(entry(one.shape().dimensions(), d), Along::kVaries));
  }
  return fact;
}

RowFact reverse_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact{.axes = flow.of(one.operand(0)).axes};
  for (const auto d : one.dimensions()) {
    Axis& turned = entry(fact.axes, d);
    if (has_rows(turned)) return flow.mixed(one, "reverses the rows of the batch");
    turned = even_axis(size_of(turned), is_same(turned));
  }
  return fact;
}

// Tensors joined one after the other: [parts, rows, ...] if each is computed from the rows in the
// same way.
std::optional<Axis> joined_axis(const HloInstruction& one, const RowFlow& flow) {
  const std::int64_t dimension = one.concatenate_dimension();
  const auto axis = [&](const HloInstruction* operand) -> const Axis& {
    return flow.of(operand).axis(dimension);
  };
  const auto found =
      absl::c_find_if(one.operands(), [&](const auto* operand) { return has_rows(axis(operand)); });
  if (found == one.operands().end()) {
    return axis_of(entry(one.shape().dimensions(), dimension), Along::kVaries);
  }
  const Axis& part = axis(*found);
  for (const auto* operand : one.operands()) {
    const Axis& other = axis(operand);
    if (size_of(other) != size_of(part) || meet(part, other) != part) return std::nullopt;
  }
  Axis made = axis_of(one.operand_count(), Along::kVaries);
  made.insert(made.end(), part.begin(), part.end());
  return tidy(made);
}

RowFact concatenate_rows(const HloInstruction& one, RowFlow& flow) {
  const auto parts = joined_axis(one, flow);
  if (!parts) return flow.not_clear(one, kOtherRows);
  const RowFact ends{.axes = {*parts}};
  Sources sources(static_cast<std::size_t>(one.shape().rank()));
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    if (d == one.concatenate_dimension()) {
      entry(sources, d) = {{&ends, 0}};
      continue;
    }
    for (const auto* operand : one.operands()) entry(sources, d).push_back({&flow.of(operand), d});
  }
  return flow.made(one, one.shape(), sources);
}

RowFact dynamic_slice_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const Axis& from = flow.of(one.operand(0)).axis(d);
    const auto size = entry(one.shape().dimensions(), d);
    const bool is_whole = size == size_of(from);
    if (!is_whole && has_rows(from)) return flow.not_clear(one, "takes some rows of the batch");
    fact.axes.push_back(is_whole ? from : even_axis(size, is_same(from)));
  }
  return fact;
}

RowFact dynamic_update_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& into = flow.of(one.operand(0));
  const RowFact& part = flow.of(one.operand(1));
  Sources sources(into.axes.size());
  for (std::int64_t d = 0; d < std::ssize(sources); ++d) {
    if (size_of(into.axis(d)) == size_of(part.axis(d))) {
      entry(sources, d) = {{&into, d}, {&part, d}};
    } else if (has_rows(into.axis(d)) || has_rows(part.axis(d))) {
      return flow.not_clear(one, "writes some rows of the batch");
    }
  }
  return flow.made(one, one.shape(), sources);
}

// It only sets how many elements count; all of them stay.
RowFact set_size_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& from = flow.of(one.operand(0));
  if (has_rows(from.axis(one.dimension()))) {
    return flow.not_clear(one, "leaves out rows of the batch");
  }
  return {.axes = from.axes};
}

RowFact iota_rows(const HloInstruction& one, RowFlow& /*flow*/) {
  RowFact fact = fact_of(one.shape(), Along::kSame);
  const auto d = xla::Cast<xla::HloIotaInstruction>(&one)->iota_dimension();
  entry(fact.axes, d) = axis_of(entry(one.shape().dimensions(), d), Along::kVaries);
  return fact;
}

// ---- Operations that combine elements along some dimensions: sums, windows, sorting.

RowFact reduce_rows(const HloInstruction& one, RowFlow& flow) {
  Sources sources(static_cast<std::size_t>(first_shape(one).rank()));
  for (std::int64_t i = 0; i < one.operand_count() / 2; ++i) {
    std::size_t kept = 0;
    for (std::int64_t d = 0; d < one.operand(i)->shape().rank(); ++d) {
      if (!c_linear_search(one.dimensions(), d)) {
        sources[kept++].push_back({&flow.of(one.operand(i)), d});
        continue;
      }
      const auto* cause = flow.taken_together(one, i, d, "combines the rows of the batch into one");
      if (cause != nullptr) return unknown(one.shape(), cause);
    }
  }
  return all_results(one, flow.made(one, first_shape(one), sources));
}

// Windows over `arrays` operands; dimensions along which no window moves stay.
RowFact windows_over(const HloInstruction& one, RowFlow& flow, std::int64_t arrays) {
  Sources sources(static_cast<std::size_t>(one.operand(0)->shape().rank()));
  for (std::int64_t i = 0; i < arrays; ++i) {
    const RowFact& from = flow.of(one.operand(i));
    for (std::int64_t d = 0; d < std::ssize(sources); ++d) {
      if (is_point(one.window().dimensions(static_cast<int>(d)))) {
        entry(sources, d).push_back({&from, d});
      } else if (has_rows(from.axis(d))) {
        return flow.mixed(one, kWindow);
      }
    }
  }
  return all_results(one, flow.made(one, first_shape(one), sources));
}

RowFact window_rows(const HloInstruction& one, RowFlow& flow) {
  return windows_over(one, flow, one.operand_count() / 2);
}

RowFact chosen_window_rows(const HloInstruction& one, RowFlow& flow) {
  return windows_over(one, flow, 2);
}

// Other dimensions are unchanged. The result varies along these, and no rows may be there.
RowFact rows_along(const HloInstruction& one, RowFlow& flow,
                   absl::Span<const std::int64_t> dimensions, const char* why) {
  Sources sources(static_cast<std::size_t>(first_shape(one).rank()));
  for (const auto* operand : one.operands()) {
    const RowFact& from = flow.of(operand);
    if (from.axes.size() != sources.size()) {
      if (from.has_rows()) return flow.not_known(one);
      continue;
    }
    for (std::int64_t d = 0; d < std::ssize(sources); ++d) {
      if (!c_linear_search(dimensions, d)) {
        entry(sources, d).push_back({&from, d});
      } else if (has_rows(from.axis(d))) {
        return flow.mixed(one, why);
      }
    }
  }
  return all_results(one, flow.made(one, first_shape(one), sources));
}

RowFact rows_along_last(const HloInstruction& one, RowFlow& flow, std::int64_t count,
                        const char* why) {
  Dimensions last;
  const std::int64_t rank = one.operand(0)->shape().rank();
  for (std::int64_t d = std::max<std::int64_t>(0, rank - count); d < rank; ++d) last.push_back(d);
  return rows_along(one, flow, last, why);
}

RowFact sort_rows(const HloInstruction& one, RowFlow& flow) {
  return rows_along(one, flow, one.dimensions(), "sorts the rows of the batch");
}

RowFact top_k_rows(const HloInstruction& one, RowFlow& flow) {
  return rows_along_last(one, flow, 1, kLargest);
}

RowFact fft_rows(const HloInstruction& one, RowFlow& flow) {
  return rows_along_last(one, flow, std::ssize(one.fft_length()),
                         "transforms along the rows of the batch");
}

RowFact matrix_rows_of(const HloInstruction& one, RowFlow& flow) {
  return rows_along_last(one, flow, 2, kOneMatrix);
}

// Factors of matrices, which are the last two dimensions of an operand. Results may have any
// dimensions after the others.
RowFact factor_rows(const HloInstruction& one, RowFlow& flow) {
  const std::int64_t matrices = one.operand(0)->shape().rank() - 2;
  const auto each = [&](const xla::Shape& shape) -> RowFact {
    Sources sources(static_cast<std::size_t>(shape.rank()));
    for (const auto* operand : one.operands()) {
      const RowFact& from = flow.of(operand);
      for (std::int64_t d = 0; d < std::ssize(from.axes); ++d) {
        if (d < matrices && d < shape.rank()) {
          entry(sources, d).push_back({&from, d});
        } else if (has_rows(from.axis(d))) {
          return unknown(shape, flow.study().mixing(one, kOneMatrix));
        }
      }
    }
    return flow.made(one, shape, sources);
  };
  if (!one.shape().IsTuple()) return each(one.shape());
  RowFact fact;
  for (const auto& shape : one.shape().tuple_shapes()) fact.elements.push_back(each(shape));
  return fact;
}

RowFact custom_call_rows(const HloInstruction& one, RowFlow& flow) {
  const auto& target = one.custom_call_target();
  if (target == "TopK") return top_k_rows(one, flow);
  const bool is_factorization =
      target == "Qr" || target == "Eigh" || target == "ProductOfElementaryHouseholderReflectors";
  return is_factorization ? factor_rows(one, flow) : flow.not_known(one);
}

// ---- Products.

RowFact dot_rows(const HloInstruction& one, RowFlow& flow) {
  const auto& numbers = one.dot_dimension_numbers();
  const std::array operands = {&flow.of(one.operand(0)), &flow.of(one.operand(1))};
  const std::array batches = {&numbers.lhs_batch_dimensions(), &numbers.rhs_batch_dimensions()};
  const std::array sums = {&numbers.lhs_contracting_dimensions(),
                           &numbers.rhs_contracting_dimensions()};
  Sources sources;
  for (int i = 0; i < batches[0]->size(); ++i) {
    sources.push_back({{operands[0], (*batches[0])[i]}, {operands[1], (*batches[1])[i]}});
  }
  for (std::size_t side = 0; side < operands.size(); ++side) {
    for (std::int64_t d = 0; d < std::ssize(operands[side]->axes); ++d) {
      if (c_linear_search(*sums[side], d)) {
        const auto* cause = flow.taken_together(one, static_cast<std::int64_t>(side), d, kSum);
        if (cause != nullptr) return unknown(one.shape(), cause);
      } else if (!c_linear_search(*batches[side], d)) {
        sources.push_back({{operands[side], d}});
      }
    }
  }
  return flow.made(one, one.shape(), sources);
}

// A convolution with groups of features that contain rows: each row has its own groups.
bool rows_are_groups(const Axis& features, std::int64_t groups, std::int64_t batch) {
  const auto place = row_place(features);
  return place && place->outer == 1 && groups % batch == 0;
}

RowFact convolution_rows(const HloInstruction& one, RowFlow& flow) {
  constexpr const char* kOtherGroups = "has groups of features that are not rows";
  const auto& numbers = one.convolution_dimension_numbers();
  const RowFact& images = flow.of(one.operand(0));
  const RowFact& kernel = flow.of(one.operand(1));
  Sources sources(static_cast<std::size_t>(one.shape().rank()));
  if (one.batch_group_count() > 1 && (images.has_rows() || kernel.has_rows())) {
    return flow.not_clear(one, "has groups of images");
  }
  entry(sources, numbers.output_batch_dimension()) = {{&images, numbers.input_batch_dimension()}};
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const auto from = numbers.input_spatial_dimensions(i);
    if (has_rows(kernel.axis(numbers.kernel_spatial_dimensions(i)))) return flow.mixed(one, kSum);
    if (is_point(one.window().dimensions(i))) {
      entry(sources, numbers.output_spatial_dimensions(i)) = {{&images, from}};
    } else if (has_rows(images.axis(from))) {
      return flow.mixed(one, kWindow);
    }
  }
  auto& features = entry(sources, numbers.output_feature_dimension());
  const auto outputs = numbers.kernel_output_feature_dimension();
  features = {{&kernel, outputs}};
  if (has_rows(kernel.axis(numbers.kernel_input_feature_dimension()))) {
    return flow.mixed(one, kSum);
  }
  const Axis& from = images.axis(numbers.input_feature_dimension());
  const std::int64_t batch = flow.study().batch();
  const RowFact groups{.axes = {tidy({{batch, Along::kRows},
                                      {size_of(kernel.axis(outputs)) / batch, Along::kSame}})}};
  if (one.feature_group_count() == 1) {
    const auto* cause = flow.taken_together(one, 0, numbers.input_feature_dimension(), kSum);
    if (cause != nullptr) return unknown(one.shape(), cause);
  } else if (has_rows(from)) {
    if (!rows_are_groups(from, one.feature_group_count(), batch)) {
      return flow.not_clear(one, kOtherGroups);
    }
    features.push_back({&groups, 0});
  } else if (has_rows(kernel.axis(outputs)) && !is_same(from)) {
    return flow.not_clear(one, kOtherGroups);
  }
  return flow.made(one, one.shape(), sources);
}

// ---- Gather and scatter. An index into the dimension of the rows is harmless if it is known to be
// the number of the row that it is used for: TensorFlow writes lookups "in each row" with such
// indices, next to those from the data.

// Element `index` of one dimension of a value; the dimension is kept. Looks at the operands of
// operations that join values, because more may be known about each part than about the whole.
RowFact component(const HloInstruction& one, std::int64_t dimension, std::int64_t index,
                  RowFlow& flow) {
  if (entry(one.shape().dimensions(), dimension) == 1) return flow.of(&one);
  if (one.opcode() == HloOpcode::kConcatenate && one.concatenate_dimension() == dimension) {
    for (const auto* operand : one.operands()) {
      const auto size = entry(operand->shape().dimensions(), dimension);
      if (index < size) return component(*operand, dimension, index, flow);
      index -= size;
    }
  }
  const xla::Shape part = resized(one.shape(), dimension, 1);
  const bool is_of_parts = one.IsElementwise() && one.operand_count() > 0 &&
                           absl::c_all_of(one.operands(), [&](const auto* operand) {
                             return operand->shape().rank() == one.shape().rank();
                           });
  if (is_of_parts) {
    std::vector<RowFact> operands;
    for (const auto* operand : one.operands()) {
      operands.push_back(component(*operand, dimension, index, flow));
    }
    return flow.elementwise(one, operands, part);
  }
  RowFact fact = flow.of(&one);
  if (fact.known != nullptr) {
    Dimensions starts(fact.axes.size(), 0);
    Dimensions limits = dimensions_of(one);
    entry(starts, dimension) = index;
    entry(limits, dimension) = index + 1;
    RowFact made =
        known_fact(std::make_shared<const xla::Literal>(fact.known->Slice(starts, limits)));
    made.cause = fact.cause;
    return made;
  }
  if (fact.cause == nullptr && has_rows(fact.axis(dimension))) {
    return unknown(part, flow.study().mixing(one, "uses a row of the batch as a position"));
  }
  entry(fact.axes, dimension) = {};
  return fact;
}

// Where the looked-up positions have their rows.
struct RowOfPlaces {
  std::size_t place = 0;
  RowPlace split;
};

// The indices of a gather or scatter, by the dimension that they index.
struct PositionIndices {
  const HloInstruction* all;
  std::int64_t batch;
  std::vector<RowFact> parts = {};  // the rank of `all`, or without the vector's dimension
  Dimensions dimensions = {};       // of `all`, by place

  std::int64_t size(std::size_t place) const {
    return entry(all->shape().dimensions(), dimensions[place]);
  }

  // One dimension with rows at that place, and the same value along the rest.
  RowFact rows_at(std::int64_t size, const RowPlace& split) const {
    return {.axes = {tidy({{split.outer, Along::kSame},
                           {batch, Along::kRows},
                           {size / (split.outer * batch), Along::kSame}})}};
  }

  // True if part `own` contains, for each position, the number of its own row in a dimension of
  // `table`: [outer, rows, inner]. The rows of the positions are then as given.
  bool names_own_row(std::size_t own, const RowOfPlaces& rows, const RowPlace& table) const {
    const RowFact& part = parts[own];
    const auto values =
        part.known != nullptr && part.cause == nullptr ? integers(*part.known) : std::nullopt;
    if (!values) return false;
    const auto inner = part.known->shape().dimensions().subspan(
        static_cast<std::size_t>(dimensions[rows.place]) + 1);
    const std::int64_t inside = rows.split.inner * product(inner);
    const std::int64_t size = table.outer * batch * table.inner;
    for (std::int64_t i = 0; i < std::ssize(*values); ++i) {
      const std::int64_t value = entry(*values, i);
      const std::int64_t row = i / inside % batch;
      if (value < 0 || value >= size || value / table.inner % batch != row) return false;
      // The rest of the index must be the same in every row.
      if (value - entry(*values, i - row * inside) != row * table.inner) return false;
    }
    return true;
  }

  // Where the positions may have their rows: where the indices other than `own`, or `values`, have
  // them; else anywhere.
  std::vector<RowOfPlaces> row_candidates(std::size_t own,
                                          const std::vector<const Axis*>& values) const {
    std::vector<RowOfPlaces> found;
    for (std::size_t place = 0; place < dimensions.size(); ++place) {
      if (place < values.size()) {
        if (const auto split = row_place(*values[place])) return {{place, *split}};
      }
      for (std::size_t k = 0; k < parts.size(); ++k) {
        if (k == own || parts[k].cause != nullptr) continue;
        if (const auto split = row_place(parts[k].axis(dimensions[place]))) {
          return {{place, *split}};
        }
      }
      for (const RowPlace& split : splits_of(size(place))) found.push_back({place, split});
    }
    return found;
  }

  // All places that rows can have in a dimension.
  std::vector<RowPlace> splits_of(std::int64_t size) const {
    std::vector<RowPlace> splits;
    for (std::int64_t inner = 1; inner * batch <= size; ++inner) {
      if (size % (inner * batch) == 0) splits.push_back({size / (inner * batch), inner});
    }
    return splits;
  }
};

// The vector's element k is for dimension map[k] of the table.
PositionIndices indices_of(const HloInstruction& all, std::int64_t vector_dimension,
                           std::int64_t count, RowFlow& flow) {
  PositionIndices made{&all, flow.study().batch()};
  for (std::int64_t d = 0; d < all.shape().rank(); ++d) {
    if (d != vector_dimension) made.dimensions.push_back(d);
  }
  const bool has_vector = vector_dimension < all.shape().rank();
  for (std::int64_t k = 0; k < count; ++k) {
    made.parts.push_back(has_vector ? component(all, vector_dimension, k, flow) : flow.of(&all));
  }
  return made;
}

class GatherRule {
 public:
  GatherRule(const HloInstruction& one, RowFlow& flow)
      : one_(one),
        flow_(flow),
        numbers_(one.gather_dimension_numbers()),
        table_(flow.of(one.operand(0))),
        indices_(indices_of(*one.operand(1), numbers_.index_vector_dim(),
                            numbers_.start_index_map_size(), flow)) {}

  RowFact visit() {
    if (table_.cause != nullptr) return unknown(one_.shape(), table_.cause);
    const auto chosen = dimension_of_rows();
    std::size_t own = indices_.parts.size();
    std::optional<RowFact> rows;
    RowOfPlaces where;
    if (chosen) {
      const auto& map = numbers_.start_index_map();
      own = static_cast<std::size_t>(absl::c_find(map, *chosen) - map.begin());
      const auto found = find_rows(*chosen, own);
      if (!found) return flow_.not_clear(one_, "looks up rows of the batch by a computed index");
      where = *found;
      rows = indices_.rows_at(indices_.size(where.place), where.split);
    }
    Sources sources(static_cast<std::size_t>(one_.shape().rank()));
    std::size_t place = 0;
    for (std::int64_t d = 0; d < one_.shape().rank(); ++d) {
      auto& from = entry(sources, d);
      if (c_linear_search(numbers_.offset_dims(), d)) continue;
      if (rows && place == where.place) from.push_back({&*rows, 0});
      const auto of_part = indices_.dimensions[place++];
      for (std::size_t k = 0; k < indices_.parts.size(); ++k) {
        if (k == own) continue;
        const RowFact& part = indices_.parts[k];
        if (part.cause != nullptr) return unknown(one_.shape(), part.cause);
        from.push_back({&part, of_part});
      }
      for (int b = 0; b < numbers_.start_indices_batching_dims_size(); ++b) {
        if (numbers_.start_indices_batching_dims(b) != of_part) continue;
        from.push_back({&table_, numbers_.operand_batching_dims(b)});
      }
    }
    add_windows(sources);
    return flow_.made(one_, one_.shape(), sources);
  }

 private:
  bool is_whole(std::int64_t d) const {
    return entry(one_.gather_slice_sizes(), d) == entry(one_.operand(0)->shape().dimensions(), d);
  }

  // The dimension of the table that contains the rows, if indices choose among them.
  std::optional<std::int64_t> dimension_of_rows() const {
    for (std::int64_t d = 0; d < std::ssize(table_.axes); ++d) {
      if (has_rows(table_.axis(d)) && !is_whole(d) &&
          !c_linear_search(numbers_.operand_batching_dims(), d)) {
        return d;
      }
    }
    return std::nullopt;
  }

  std::optional<RowOfPlaces> find_rows(std::int64_t dimension, std::size_t own) const {
    const auto table = row_place(table_.axis(dimension));
    if (!table || own == indices_.parts.size() ||
        entry(one_.gather_slice_sizes(), dimension) != 1) {
      return std::nullopt;
    }
    for (const auto& candidate : indices_.row_candidates(own, {})) {
      if (indices_.names_own_row(own, candidate, *table)) return candidate;
    }
    return std::nullopt;
  }

  // Dimensions of the table that each lookup takes as a whole.
  void add_windows(Sources& sources) const {
    int next = 0;
    for (std::int64_t d = 0; d < std::ssize(table_.axes); ++d) {
      if (c_linear_search(numbers_.collapsed_slice_dims(), d) ||
          c_linear_search(numbers_.operand_batching_dims(), d)) {
        continue;
      }
      const auto to = numbers_.offset_dims(next++);
      if (is_whole(d)) entry(sources, to).push_back({&table_, d});
    }
  }

  const HloInstruction& one_;
  RowFlow& flow_;
  const xla::GatherDimensionNumbers& numbers_;
  const RowFact& table_;
  PositionIndices indices_;
};

class ScatterRule {
 public:
  ScatterRule(const HloInstruction& one, RowFlow& flow)
      : one_(one),
        flow_(flow),
        numbers_(one.scatter_dimension_numbers()),
        arrays_((one.operand_count() - 1) / 2),
        indices_(indices_of(*one.operand(arrays_), numbers_.index_vector_dim(),
                            numbers_.scatter_dims_to_operand_dims_size(), flow)) {}

  RowFact visit() {
    for (const auto* operand : one_.operands()) {
      if (operand != indices_.all && flow_.of(operand).cause != nullptr) {
        return unknown(one_.shape(), flow_.of(operand).cause);
      }
    }
    for (const RowFact& part : indices_.parts) {
      if (part.cause != nullptr) return unknown(one_.shape(), part.cause);
    }
    const xla::Shape& shape = first_shape(one_);
    Sources sources(static_cast<std::size_t>(shape.rank()));
    for (std::int64_t i = 0; i < arrays_; ++i) {
      if (!add_windows(i, sources)) return flow_.not_clear(one_, "writes some rows of the batch");
    }
    RowFact rows;
    if (places_have_rows()) {
      const auto found = find_rows();
      if (!found) {
        return flow_.mixed(one_, "puts several rows of the batch into the same place");
      }
      const auto [dimension, split] = *found;
      rows = indices_.rows_at(entry(shape.dimensions(), dimension), split);
      auto& from = entry(sources, dimension);
      from = {{&rows, 0}};
      for (std::int64_t i = 0; i < arrays_; ++i) {
        from.push_back({&flow_.of(one_.operand(i)), dimension});
      }
    }
    return all_results(one_, flow_.made(one_, shape, sources));
  }

 private:
  const RowFact& update(std::int64_t array) const {
    return flow_.of(one_.operand(arrays_ + 1 + array));
  }
  // Not a window's: it varies, like the positions.
  bool is_position(std::int64_t d) const {
    return c_linear_search(numbers_.inserted_window_dims(), d) ||
           c_linear_search(numbers_.input_batching_dims(), d);
  }

  // Dimensions of the update that count positions, in order.
  std::vector<const Axis*> places(std::int64_t array) const {
    std::vector<const Axis*> axes;
    const RowFact& from = update(array);
    for (std::int64_t d = 0; d < std::ssize(from.axes); ++d) {
      if (!c_linear_search(numbers_.update_window_dims(), d)) axes.push_back(&from.axis(d));
    }
    return axes;
  }

  bool places_have_rows() const {
    for (std::int64_t i = 0; i < arrays_; ++i) {
      if (absl::c_any_of(places(i), [](const Axis* one) { return has_rows(*one); })) return true;
      const RowFact& into = flow_.of(one_.operand(i));
      for (std::int64_t d = 0; d < std::ssize(into.axes); ++d) {
        if (is_position(d) && has_rows(into.axis(d))) return true;
      }
    }
    return absl::c_any_of(indices_.parts, [](const RowFact& part) { return part.has_rows(); });
  }

  // The dimension in which each row has its own positions.
  std::optional<std::pair<std::int64_t, RowPlace>> find_rows() const {
    for (std::size_t own = 0; own < indices_.parts.size(); ++own) {
      const auto d = numbers_.scatter_dims_to_operand_dims(static_cast<int>(own));
      if (!c_linear_search(numbers_.inserted_window_dims(), d)) continue;
      for (const auto& candidate : indices_.row_candidates(own, places(0))) {
        if (!others_agree(own, candidate)) continue;
        const auto size = entry(one_.operand(0)->shape().dimensions(), d);
        for (const RowPlace& table : indices_.splits_of(size)) {
          if (indices_.names_own_row(own, candidate, table)) return {{d, table}};
        }
      }
    }
    return std::nullopt;
  }

  // True if the updates and the other indices have their rows there too, or are the same in all
  // rows.
  bool others_agree(std::size_t own, const RowOfPlaces& rows) const {
    const RowFact wanted = indices_.rows_at(indices_.size(rows.place), rows.split);
    for (std::size_t k = 0; k < indices_.parts.size(); ++k) {
      if (k == own) continue;
      const RowFact& part = indices_.parts[k];
      for (std::size_t place = 0; place < indices_.dimensions.size(); ++place) {
        if (place != rows.place && has_rows(part.axis(indices_.dimensions[place]))) return false;
      }
      const auto met = flow_.study().meet(wanted, 0, part, indices_.dimensions[rows.place]);
      if (!met || row_place(*met) != rows.split) return false;
    }
    for (std::int64_t i = 0; i < arrays_; ++i) {
      const auto axes = places(i);
      for (std::size_t place = 0; place < axes.size(); ++place) {
        if (place != rows.place && has_rows(*axes[place])) return false;
      }
      if (!meet(wanted.axes[0], *axes[rows.place])) return false;
    }
    return true;
  }

  // Moved windows must not contain parts of a row.
  bool add_windows(std::int64_t array, Sources& sources) const {
    const RowFact& into = flow_.of(one_.operand(array));
    const RowFact& from = update(array);
    int next = 0;
    for (std::int64_t d = 0; d < std::ssize(into.axes); ++d) {
      if (is_position(d)) continue;
      const auto window = numbers_.update_window_dims(next++);
      if (size_of(from.axis(window)) == size_of(into.axis(d))) {
        entry(sources, d).push_back({&into, d});
        entry(sources, d).push_back({&from, window});
      } else if (has_rows(into.axis(d)) || has_rows(from.axis(window))) {
        return false;
      }
    }
    return true;
  }

  const HloInstruction& one_;
  RowFlow& flow_;
  const xla::ScatterDimensionNumbers& numbers_;
  std::int64_t arrays_;
  PositionIndices indices_;
};

RowFact gather_rows(const HloInstruction& one, RowFlow& flow) {
  return GatherRule(one, flow).visit();
}
RowFact scatter_rows(const HloInstruction& one, RowFlow& flow) {
  return ScatterRule(one, flow).visit();
}

constexpr RowRule kRules[] = {
    {HloOpcode::kAddDependency, passed_on, RowCauses::kSeen},
    {HloOpcode::kBitcast, reshape_rows},
    {HloOpcode::kBroadcast, broadcast_rows},
    {HloOpcode::kCall, called_rows, RowCauses::kSeen},
    {HloOpcode::kCholesky, matrix_rows_of},
    {HloOpcode::kConcatenate, concatenate_rows},
    {HloOpcode::kConditional, branch_rows, RowCauses::kSeen},
    {HloOpcode::kConstant, constant_rows, RowCauses::kSeen},
    {HloOpcode::kConvolution, convolution_rows},
    {HloOpcode::kCopy, passed_on, RowCauses::kSeen},
    {HloOpcode::kCustomCall, custom_call_rows},
    {HloOpcode::kDot, dot_rows},
    {HloOpcode::kDynamicSlice, dynamic_slice_rows},
    {HloOpcode::kDynamicUpdateSlice, dynamic_update_rows},
    {HloOpcode::kFft, fft_rows},
    {HloOpcode::kFusion, called_rows, RowCauses::kSeen},
    {HloOpcode::kGather, gather_rows, RowCauses::kSeen},
    {HloOpcode::kGetTupleElement, element_rows, RowCauses::kSeen},
    {HloOpcode::kIota, iota_rows},
    {HloOpcode::kOptimizationBarrier, passed_on, RowCauses::kSeen},
    {HloOpcode::kPad, pad_rows},
    {HloOpcode::kParameter, parameter_rows, RowCauses::kSeen},
    {HloOpcode::kReduce, reduce_rows},
    {HloOpcode::kReduceWindow, window_rows},
    {HloOpcode::kReshape, reshape_rows},
    {HloOpcode::kReverse, reverse_rows},
    {HloOpcode::kScatter, scatter_rows, RowCauses::kSeen},
    {HloOpcode::kSelectAndScatter, chosen_window_rows},
    {HloOpcode::kSetDimensionSize, set_size_rows},
    {HloOpcode::kSlice, slice_rows},
    {HloOpcode::kSort, sort_rows},
    {HloOpcode::kTopK, top_k_rows},
    {HloOpcode::kTranspose, transpose_rows},
    {HloOpcode::kTriangularSolve, matrix_rows_of},
    {HloOpcode::kTuple, tuple_rows, RowCauses::kSeen},
    {HloOpcode::kWhile, loop_rows, RowCauses::kSeen},
};

}  // namespace

const RowRule* row_rule(HloOpcode opcode) {
  const auto* const found =
      absl::c_find_if(kRules, [opcode](const RowRule& rule) { return rule.opcode == opcode; });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace tfaot::toolkit::engine
