// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_indices.h"

#include <algorithm>

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

xla::Shape one_of(const xla::Shape& shape, std::int64_t dimension) {
  xla::Shape made = shape;
  made.set_dimensions(static_cast<int>(dimension), 1);
  return made;
}

// Element `index` of one dimension of a value; the dimension is kept. Looks at the operands of
// operations that join values, because more may be known about each part than about the whole.
RowFact component(const HloInstruction& one, std::int64_t dimension, std::int64_t index,
                  RowFlow& flow) {
  const auto d = static_cast<std::size_t>(dimension);
  if (one.shape().dimensions(static_cast<int>(dimension)) == 1) return flow.of(&one);
  if (one.opcode() == HloOpcode::kConcatenate && one.concatenate_dimension() == dimension) {
    for (const auto* operand : one.operands()) {
      const auto size = operand->shape().dimensions(static_cast<int>(dimension));
      if (index < size) return component(*operand, dimension, index, flow);
      index -= size;
    }
  }
  const bool is_part = one.IsElementwise() && one.operand_count() > 0 &&
                       std::all_of(one.operands().begin(), one.operands().end(), [&](auto* x) {
                         return x->shape().rank() == one.shape().rank();
                       });
  if (is_part) {
    std::vector<RowFact> operands;
    for (const auto* operand : one.operands()) {
      operands.push_back(component(*operand, dimension, index, flow));
    }
    return flow.elementwise(one, operands, one_of(one.shape(), dimension));
  }
  RowFact fact = flow.of(&one);
  if (fact.known != nullptr) {
    std::vector<std::int64_t> starts(fact.axes.size(), 0);
    std::vector<std::int64_t> limits(one.shape().dimensions().begin(),
                                     one.shape().dimensions().end());
    starts[d] = index;
    limits[d] = index + 1;
    RowFact made = known_fact(fact.known->Slice(starts, limits));
    made.cause = fact.cause;
    return made;
  }
  if (fact.cause == nullptr && has_rows(fact.axes[d])) {
    return unknown(one_of(one.shape(), dimension),
                   flow.study().mixing(one, "uses a row of the batch as a position"));
  }
  fact.axes[d] = {};
  return fact;
}

}  // namespace

Indices indices_of(const HloInstruction& all, std::int64_t vector_dimension,
                   absl::Span<const std::int64_t> map, RowFlow& flow) {
  Indices made{&all, vector_dimension, {}, {}};
  for (std::int64_t d = 0; d < all.shape().rank(); ++d) {
    if (d != vector_dimension) made.dimensions.push_back(d);
  }
  const bool has_vector = vector_dimension < all.shape().rank();
  for (std::int64_t k = 0; k < std::ssize(map); ++k) {
    made.parts.push_back(has_vector ? component(all, vector_dimension, k, flow) : flow.of(&all));
  }
  return made;
}

bool names_own_row(const RowFact& part, const Indices& indices, const RowOfPlaces& rows,
                   const RowPlace& table, std::int64_t batch) {
  if (part.known == nullptr || part.cause != nullptr) return false;
  const auto values = integers(*part.known);
  if (!values) return false;
  const auto& shape = part.known->shape();
  std::int64_t inside = rows.split.inner;
  for (auto d = static_cast<int>(indices.of_part(rows.place)) + 1; d < shape.rank(); ++d) {
    inside *= shape.dimensions(d);
  }
  const std::int64_t size = table.outer * batch * table.inner;
  for (std::int64_t i = 0; i < std::ssize(*values); ++i) {
    const std::int64_t value = (*values)[static_cast<std::size_t>(i)];
    const std::int64_t row = i / inside % batch;
    if (value < 0 || value >= size || value / table.inner % batch != row) return false;
    // The rest of the index must be the same in every row.
    const std::int64_t first = (*values)[static_cast<std::size_t>(i - row * inside)];
    if (value - first != row * table.inner) return false;
  }
  return true;
}

std::vector<RowOfPlaces> row_candidates(const Indices& indices, std::size_t own,
                                        const std::vector<const Axis*>& values,
                                        std::int64_t batch) {
  std::vector<RowOfPlaces> all;
  for (std::size_t place = 0; place < indices.dimensions.size(); ++place) {
    const auto d = static_cast<std::size_t>(indices.of_part(place));
    if (place < values.size()) {
      if (const auto split = row_place(*values[place])) return {{place, *split}};
    }
    for (std::size_t k = 0; k < indices.parts.size(); ++k) {
      if (k == own || indices.parts[k].cause != nullptr) continue;
      if (const auto split = row_place(indices.parts[k].axes[d])) return {{place, *split}};
    }
    const auto size = indices.all->shape().dimensions(static_cast<int>(d));
    for (std::int64_t inner = 1; inner * batch <= size; ++inner) {
      if (size % (inner * batch) == 0) all.push_back({place, {size / (inner * batch), inner}});
    }
  }
  return all;
}

RowFact rows_at(std::int64_t size, const RowPlace& split, std::int64_t batch) {
  RowFact fact;
  fact.axes = {tidy({{split.outer, Along::kSame},
                     {batch, Along::kRows},
                     {size / (split.outer * batch), Along::kSame}})};
  return fact;
}

}  // namespace tfaot::toolkit::engine
