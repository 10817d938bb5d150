// SPDX-License-Identifier: Apache-2.0
// What is known of one value of an HLO module about the rows of the batch. Each dimension is a
// product of factors, the major one first; a reshape only groups them anew. Along a factor the
// value is the same everywhere, varies, or goes through the rows: there element r is made of row r
// alone, and in the same way for every r. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

enum class Along { kSame, kVaries, kRows };

struct Factor {
  std::int64_t size = 1;
  Along along = Along::kVaries;
  bool operator==(const Factor&) const = default;
};

using Axis = std::vector<Factor>;  // none of size 1; neighbours differ but for rows

// Why no more is known of a value.
struct RowCause {
  const xla::HloInstruction* at = nullptr;
  std::string why;     // "adds up the rows of the batch"
  bool mixes = false;  // the operation does; else it is only not understood
};

struct RowFact {
  std::vector<Axis> axes;                     // by dimension
  std::shared_ptr<const xla::Literal> known;  // the value, where no input or weight is in it
  const RowCause* cause = nullptr;            // rows meet in it, or may: `axes` have no rows
  std::vector<RowFact> elements;              // of a tuple

  bool has_rows() const;
};

bool has_rows(const Axis& axis);
bool is_same(const Axis& axis);  // all along it
std::int64_t size_of(const Axis& axis);

Axis axis_of(std::int64_t size, Along along);
// Drops factors of size 1, and puts neighbours of one kind together.
Axis tidy(const Axis& axis);
// The same, with what is the same along it said to vary.
Axis weakened(const Axis& axis);

// A value of this shape (or tuple) that is alike along `along` everywhere.
RowFact fact_of(const xla::Shape& shape, Along along);
RowFact unknown(const xla::Shape& shape, const RowCause* cause);
RowFact known_fact(xla::Literal value);

// Where one dimension of a value has its rows: [outer, rows, inner].
struct RowPlace {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  bool operator==(const RowPlace&) const = default;
};
std::optional<RowPlace> row_place(const Axis& axis);

// What an element made of one of each is like. Nothing where rows meet what varies from row to row
// by itself, or where the factors do not fit together.
std::optional<Axis> meet(const Axis& a, const Axis& b);

// The factors of `axes` in other dimensions. Nothing where that cuts the rows.
std::optional<std::vector<Axis>> regroup(const std::vector<Axis>& axes,
                                         absl::Span<const std::int64_t> sizes);

// Elements start, start + stride, ... of an axis. Nothing where that leaves out rows.
struct Piece {
  std::int64_t start = 0;
  std::int64_t limit = 0;
  std::int64_t stride = 1;
};
std::optional<Axis> cut(const Axis& axis, const Piece& piece);

// The known value is the same along the rows that are at this place of this dimension.
bool is_alike(const xla::Literal& value, std::int64_t dimension, std::int64_t batch,
              const RowPlace& place);

// The elements of an integer array.
std::optional<std::vector<std::int64_t>> integers(const xla::Literal& value);

}  // namespace tfaot::toolkit::engine
