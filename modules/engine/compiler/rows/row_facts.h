// SPDX-License-Identifier: Apache-2.0
// The rows of the batch in one value of an HLO module, as far as they are known. Each dimension is
// a product of factors, the major one first; a reshape only groups them differently. Along a
// factor, the value is the same everywhere, or varies, or follows the rows: then element r is
// computed from row r alone, and in the same way for every r. Pure functions.
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

// Why nothing more is known about a value.
struct RowCause {
  const xla::HloInstruction* at = nullptr;
  std::string why;     // "adds up the rows of the batch"
  bool mixes = false;  // the operation mixes rows; else it is only not understood
};

struct RowFact {
  std::vector<Axis> axes;                     // by dimension
  std::shared_ptr<const xla::Literal> known;  // the value, if it depends on no input or weight
  const RowCause* cause = nullptr;            // rows meet in it, or may; then `axes` have no rows
  std::vector<RowFact> elements;              // for a tuple

  bool has_rows() const;
};

bool has_rows(const Axis& axis);
bool is_same(const Axis& axis);  // everywhere along it
std::int64_t size_of(const Axis& axis);

Axis axis_of(std::int64_t size, Along along);
// Drops factors of size 1, and joins neighbours of one kind.
Axis tidy(const Axis& axis);
// The same axis, but factors that are the same everywhere now count as varying.
Axis weakened(const Axis& axis);

// The fact for a value of this shape (or tuple) that has the kind `along` everywhere.
RowFact fact_of(const xla::Shape& shape, Along along);
RowFact unknown(const xla::Shape& shape, const RowCause* cause);
RowFact known_fact(xla::Literal value);

// The position of the rows in one dimension of a value: [outer, rows, inner].
struct RowPlace {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  bool operator==(const RowPlace&) const = default;
};
std::optional<RowPlace> row_place(const Axis& axis);

// The kind of an element made from one element of each. Nothing if rows meet something that itself
// varies from row to row, or if the factors do not fit together.
std::optional<Axis> meet(const Axis& a, const Axis& b);

// The factors of `axes` regrouped into other dimensions. Nothing if that splits the rows.
std::optional<std::vector<Axis>> regroup(const std::vector<Axis>& axes,
                                         absl::Span<const std::int64_t> sizes);

// Elements start, start + stride, ... of an axis. Nothing if that leaves out rows.
struct Piece {
  std::int64_t start = 0;
  std::int64_t limit = 0;
  std::int64_t stride = 1;
};
std::optional<Axis> cut(const Axis& axis, const Piece& piece);

// True if the known value is the same along the rows at this place of this dimension.
bool is_alike(const xla::Literal& value, std::int64_t dimension, std::int64_t batch,
              const RowPlace& place);

// The elements of an integer array.
std::optional<std::vector<std::int64_t>> integers(const xla::Literal& value);

}  // namespace tfaot::toolkit::engine
