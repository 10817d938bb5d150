// SPDX-License-Identifier: Apache-2.0
// Rows through scatter.
#include <algorithm>

#include "compiler/rows/row_indices.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using Sources = RowFlow::Sources;

class Scatter {
 public:
  Scatter(const HloInstruction& one, RowFlow& flow)
      : one_(one),
        flow_(flow),
        numbers_(one.scatter_dimension_numbers()),
        arrays_((one.operand_count() - 1) / 2),
        indices_(indices_of(*one.operand(arrays_), numbers_.index_vector_dim(),
                            numbers_.scatter_dims_to_operand_dims(), flow)) {}

  RowFact visit() {
    for (const auto* operand : one_.operands()) {
      if (operand != indices_.all && flow_.of(operand).cause != nullptr) {
        return unknown(one_.shape(), flow_.of(operand).cause);
      }
    }
    for (const RowFact& part : indices_.parts) {
      if (part.cause != nullptr) return unknown(one_.shape(), part.cause);
    }
    const xla::Shape& shape = one_.shape().IsTuple() ? one_.shape().tuple_shapes(0) : one_.shape();
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
      rows = rows_at(shape.dimensions(static_cast<int>(dimension)), split, flow_.study().batch());
      auto& from = sources[static_cast<std::size_t>(dimension)];
      from.clear();
      from.push_back({&rows, 0});
      for (std::int64_t i = 0; i < arrays_; ++i) {
        from.push_back({&flow_.of(one_.operand(i)), dimension});
      }
    }
    const RowFact each = flow_.made(one_, shape, sources);
    if (each.cause != nullptr || !one_.shape().IsTuple()) {
      return each.cause != nullptr ? unknown(one_.shape(), each.cause) : each;
    }
    RowFact fact;
    fact.elements.assign(static_cast<std::size_t>(arrays_), each);
    return fact;
  }

 private:
  const HloInstruction* update(std::int64_t array) const {
    return one_.operand(arrays_ + 1 + array);
  }

  // Dimensions of the update that count positions, in order.
  std::vector<const Axis*> places(std::int64_t array) const {
    std::vector<const Axis*> axes;
    const RowFact& from = flow_.of(update(array));
    for (std::int64_t d = 0; d < std::ssize(from.axes); ++d) {
      if (!contains(numbers_.update_window_dims(), d)) {
        axes.push_back(&from.axes[static_cast<std::size_t>(d)]);
      }
    }
    return axes;
  }

  bool places_have_rows() const {
    for (std::int64_t i = 0; i < arrays_; ++i) {
      const auto axes = places(i);
      if (std::any_of(axes.begin(), axes.end(), [](const Axis* one) { return has_rows(*one); })) {
        return true;
      }
      const RowFact& into = flow_.of(one_.operand(i));
      for (std::int64_t d = 0; d < std::ssize(into.axes); ++d) {
        if ((contains(numbers_.inserted_window_dims(), d) ||
             contains(numbers_.input_batching_dims(), d)) &&
            has_rows(into.axes[static_cast<std::size_t>(d)])) {
          return true;
        }
      }
    }
    return std::any_of(indices_.parts.begin(), indices_.parts.end(),
                       [](const RowFact& part) { return part.has_rows(); });
  }

  // The dimension in which each row has its own positions.
  std::optional<std::pair<std::int64_t, RowPlace>> find_rows() const {
    const auto batch = flow_.study().batch();
    const auto& map = numbers_.scatter_dims_to_operand_dims();
    for (std::size_t own = 0; own < indices_.parts.size(); ++own) {
      const auto d = map[static_cast<int>(own)];
      if (!contains(numbers_.inserted_window_dims(), d)) continue;
      const auto size = one_.operand(0)->shape().dimensions(static_cast<int>(d));
      for (const auto& candidate : row_candidates(indices_, own, places(0), batch)) {
        if (!others_agree(own, candidate)) continue;
        for (std::int64_t inner = 1; inner * batch <= size; ++inner) {
          if (size % (inner * batch) != 0) continue;
          const RowPlace table{size / (inner * batch), inner};
          if (names_own_row(indices_.parts[own], indices_, candidate, table, batch)) {
            return {{d, table}};
          }
        }
      }
    }
    return std::nullopt;
  }

  // True if the updates and the other indices have their rows there too, or are the same in all
  // rows.
  bool others_agree(std::size_t own, const RowOfPlaces& rows) const {
    const auto& study = flow_.study();
    const auto size =
        indices_.all->shape().dimensions(static_cast<int>(indices_.of_part(rows.place)));
    const RowFact wanted = rows_at(size, rows.split, study.batch());
    for (std::size_t k = 0; k < indices_.parts.size(); ++k) {
      if (k == own) continue;
      for (std::size_t place = 0; place < indices_.dimensions.size(); ++place) {
        const auto d = static_cast<std::size_t>(indices_.of_part(place));
        if (place != rows.place && has_rows(indices_.parts[k].axes[d])) return false;
      }
      const auto met = study.meet(wanted, 0, indices_.parts[k], indices_.of_part(rows.place));
      if (!met || row_place(*met) != rows.split) return false;
    }
    for (std::int64_t i = 0; i < arrays_; ++i) {
      const auto axes = places(i);
      for (std::size_t place = 0; place < axes.size(); ++place) {
        if (place != rows.place && has_rows(*axes[place])) return false;
      }
      const auto met = meet(wanted.axes[0], *axes[rows.place]);
      if (!met) return false;
    }
    return true;
  }

  // Moved windows must not contain parts of a row.
  bool add_windows(std::int64_t array, Sources& sources) const {
    const RowFact& into = flow_.of(one_.operand(array));
    const RowFact& from = flow_.of(update(array));
    int next = 0;
    for (std::int64_t d = 0; d < std::ssize(into.axes); ++d) {
      const auto at = static_cast<std::size_t>(d);
      if (contains(numbers_.inserted_window_dims(), d) ||
          contains(numbers_.input_batching_dims(), d)) {
        continue;  // varies, like the positions
      }
      const auto window = static_cast<std::size_t>(numbers_.update_window_dims(next++));
      if (size_of(from.axes[window]) == size_of(into.axes[at])) {
        sources[at].push_back({&into, d});
        sources[at].push_back({&from, static_cast<std::int64_t>(window)});
      } else if (has_rows(into.axes[at]) || has_rows(from.axes[window])) {
        return false;
      }
    }
    return true;
  }

  const HloInstruction& one_;
  RowFlow& flow_;
  const xla::ScatterDimensionNumbers& numbers_;
  std::int64_t arrays_;
  Indices indices_;
};

}  // namespace

RowFact visit_scatter(const HloInstruction& one, RowFlow& flow) {
  return Scatter(one, flow).visit();
}

}  // namespace tfaot::toolkit::engine
