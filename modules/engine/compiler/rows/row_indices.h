// SPDX-License-Identifier: Apache-2.0
// The indices of a gather or scatter. An index into the dimension of the rows is harmless if it is
// known to be the number of the row that it is used for: TensorFlow writes lookups "in each row"
// with such indices, next to those from the data. Used by one thread.
#pragma once

#include <vector>

#include "compiler/rows/row_flow.h"

namespace tfaot::toolkit::engine {

// The indices of a gather or scatter, by the dimension that they index.
struct Indices {
  const xla::HloInstruction* all = nullptr;
  std::int64_t vector_dimension = 0;
  std::vector<RowFact> parts;            // the rank of `all`, or without the vector's dimension
  std::vector<std::int64_t> dimensions;  // of `all`: places in order

  std::int64_t of_part(std::size_t place) const { return dimensions[place]; }
};

// The vector's element k is for dimension map[k] of the table.
Indices indices_of(const xla::HloInstruction& all, std::int64_t vector_dimension,
                   absl::Span<const std::int64_t> map, RowFlow& flow);

// Where the looked-up positions have their rows.
struct RowOfPlaces {
  std::size_t place = 0;
  RowPlace split;
};

// True if `part` contains, for each position, the number of its own row in a dimension of `table`:
// [outer, rows, inner]. The rows of the positions are then as given.
bool names_own_row(const RowFact& part, const Indices& indices, const RowOfPlaces& rows,
                   const RowPlace& table, std::int64_t batch);

// Where the positions may have their rows: where the indices other than `own`, or `values`, have
// them; else anywhere.
std::vector<RowOfPlaces> row_candidates(const Indices& indices, std::size_t own,
                                        const std::vector<const Axis*>& values, std::int64_t batch);

// One dimension with rows at that place, and the same value along the rest.
RowFact rows_at(std::int64_t size, const RowPlace& split, std::int64_t batch);

}  // namespace tfaot::toolkit::engine
