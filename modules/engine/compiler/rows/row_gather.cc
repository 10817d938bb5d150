// SPDX-License-Identifier: Apache-2.0
// Rows through gather.
#include <algorithm>

#include "compiler/rows/row_indices.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using Sources = RowFlow::Sources;

class Gather {
 public:
  Gather(const HloInstruction& one, RowFlow& flow)
      : one_(one),
        flow_(flow),
        numbers_(one.gather_dimension_numbers()),
        table_(flow.of(one.operand(0))),
        indices_(indices_of(*one.operand(1), numbers_.index_vector_dim(),
                            numbers_.start_index_map(), flow)) {}

  RowFact visit() {
    if (table_.cause != nullptr) return unknown(one_.shape(), table_.cause);
    const auto chosen = dimension_of_rows();
    std::size_t own = indices_.parts.size();
    std::optional<RowFact> rows;
    RowOfPlaces where;
    if (chosen) {
      const auto& map = numbers_.start_index_map();
      own = static_cast<std::size_t>(std::find(map.begin(), map.end(), *chosen) - map.begin());
      const auto found = find_rows(*chosen, own);
      if (!found) return flow_.not_clear(one_, "looks up rows of the batch by a computed index");
      where = *found;
      const auto size =
          indices_.all->shape().dimensions(static_cast<int>(indices_.of_part(where.place)));
      rows = rows_at(size, where.split, flow_.study().batch());
    }
    Sources sources(static_cast<std::size_t>(one_.shape().rank()));
    std::size_t place = 0;
    for (std::int64_t d = 0; d < one_.shape().rank(); ++d) {
      auto& from = sources[static_cast<std::size_t>(d)];
      if (contains(numbers_.offset_dims(), d)) continue;
      if (rows && place == where.place) from.push_back({&*rows, 0});
      const auto of_part = indices_.of_part(place++);
      for (std::size_t k = 0; k < indices_.parts.size(); ++k) {
        if (k == own) continue;
        if (indices_.parts[k].cause != nullptr) {
          return unknown(one_.shape(), indices_.parts[k].cause);
        }
        from.push_back({&indices_.parts[k], of_part});
      }
      for (int b = 0; b < numbers_.start_indices_batching_dims_size(); ++b) {
        if (numbers_.start_indices_batching_dims(b) == of_part) {
          from.push_back({&table_, numbers_.operand_batching_dims(b)});
        }
      }
    }
    add_windows(sources);
    return flow_.made(one_, one_.shape(), sources);
  }

 private:
  bool is_whole(std::int64_t d) const {
    return one_.gather_slice_sizes()[static_cast<std::size_t>(d)] ==
           one_.operand(0)->shape().dimensions(static_cast<int>(d));
  }

  // The dimension of the table that contains the rows, if indices choose among them.
  std::optional<std::int64_t> dimension_of_rows() const {
    for (std::int64_t d = 0; d < std::ssize(table_.axes); ++d) {
      if (has_rows(table_.axes[static_cast<std::size_t>(d)]) && !is_whole(d) &&
          !contains(numbers_.operand_batching_dims(), d)) {
        return d;
      }
    }
    return std::nullopt;
  }

  std::optional<RowOfPlaces> find_rows(std::int64_t dimension, std::size_t own) const {
    const auto batch = flow_.study().batch();
    const auto table = row_place(table_.axes[static_cast<std::size_t>(dimension)]);
    if (!table || own == indices_.parts.size() ||
        one_.gather_slice_sizes()[static_cast<std::size_t>(dimension)] != 1) {
      return std::nullopt;
    }
    for (const auto& candidate : row_candidates(indices_, own, {}, batch)) {
      if (names_own_row(indices_.parts[own], indices_, candidate, *table, batch)) return candidate;
    }
    return std::nullopt;
  }

  // Dimensions of the table that each lookup takes as a whole.
  void add_windows(Sources& sources) const {
    int next = 0;
    for (std::int64_t d = 0; d < std::ssize(table_.axes); ++d) {
      if (contains(numbers_.collapsed_slice_dims(), d) ||
          contains(numbers_.operand_batching_dims(), d)) {
        continue;
      }
      const auto to = numbers_.offset_dims(next++);
      if (is_whole(d)) sources[static_cast<std::size_t>(to)].push_back({&table_, d});
    }
  }

  const HloInstruction& one_;
  RowFlow& flow_;
  const xla::GatherDimensionNumbers& numbers_;
  const RowFact& table_;
  Indices indices_;
};

}  // namespace

RowFact visit_gather(const HloInstruction& one, RowFlow& flow) { return Gather(one, flow).visit(); }

}  // namespace tfaot::toolkit::engine
