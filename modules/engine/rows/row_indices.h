// SPDX-License-Identifier: Apache-2.0
// The indices of a gather or scatter. One into the dimension of the rows is right where it is
// known, and is the number of the very row that it is used for: TensorFlow writes lookups "in each
// row" with such indices beside those that the data give. Used by one thread.
#pragma once

#include <vector>

#include "rows/row_flow.h"

namespace tfaot::toolkit::engine {

// The indices of a gather or scatter, by the dimension that they are for.
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

// Where the rows are in the places that are looked up.
struct RowOfPlaces {
  std::size_t place = 0;
  RowPlace split;
};

// `part` holds, for each place, the number of its row in a dimension of `table`: [outer, rows,
// inner]. The rows of the places are then as said.
bool names_own_row(const RowFact& part, const Indices& indices, const RowOfPlaces& rows,
                   const RowPlace& table, std::int64_t batch);

// Where the places may have their rows: where the indices but `own`, or `values`, do; else
// anywhere.
std::vector<RowOfPlaces> row_candidates(const Indices& indices, std::size_t own,
                                        const std::vector<const Axis*>& values, std::int64_t batch);

// One dimension with rows there, and the same along the rest.
RowFact rows_at(std::int64_t size, const RowPlace& split, std::int64_t batch);

}  // namespace tfaot::toolkit::engine
