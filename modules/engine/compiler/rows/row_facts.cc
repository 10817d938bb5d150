// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_facts.h"

#include <algorithm>
#include <numeric>

#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Two sides of a dimension, in factors of the same sizes.
struct Aligned {
  std::int64_t size = 1;
  Along a = Along::kVaries;
  Along b = Along::kVaries;
};

std::optional<Along> meet(Along a, Along b) {
  if (a == b || b == Along::kSame) return a;
  if (a == Along::kSame) return b;
  return std::nullopt;  // rows in one, varying values in the other
}

// Takes factors from the front, in pieces of given sizes.
class Front {
 public:
  explicit Front(const Axis& axis) : rest_(axis.rbegin(), axis.rend()) {}
  bool empty() const { return rest_.empty(); }
  std::int64_t size() const { return rest_.back().size; }
  Along along() const { return rest_.back().along; }
  bool can_take(std::int64_t size) const {
    return size == rest_.back().size ||
           (rest_.back().size % size == 0 && rest_.back().along != Along::kRows);
  }
  Factor take(std::int64_t size) {
    Factor taken{size, rest_.back().along};
    rest_.back().size /= size;
    if (rest_.back().size == 1) rest_.pop_back();
    return taken;
  }

 private:
  std::vector<Factor> rest_;
};

std::optional<std::vector<Aligned>> align(const Axis& a, const Axis& b) {
  std::vector<Aligned> all;
  Front left(a);
  Front right(b);
  while (!left.empty() && !right.empty()) {
    const std::int64_t size = std::min(left.size(), right.size());
    if (!left.can_take(size) || !right.can_take(size)) return std::nullopt;
    const Along along = left.take(size).along;
    all.push_back({size, along, right.take(size).along});
  }
  if (!left.empty() || !right.empty()) return std::nullopt;
  return all;
}

}  // namespace

bool has_rows(const Axis& axis) {
  return std::any_of(axis.begin(), axis.end(),
                     [](const Factor& one) { return one.along == Along::kRows; });
}

bool is_same(const Axis& axis) {
  return std::all_of(axis.begin(), axis.end(),
                     [](const Factor& one) { return one.along == Along::kSame; });
}

std::int64_t size_of(const Axis& axis) {
  return std::accumulate(axis.begin(), axis.end(), std::int64_t{1},
                         [](std::int64_t size, const Factor& one) { return size * one.size; });
}

bool RowFact::has_rows() const {
  return std::any_of(axes.begin(), axes.end(),
                     [](const Axis& axis) { return engine::has_rows(axis); }) ||
         std::any_of(elements.begin(), elements.end(),
                     [](const RowFact& one) { return one.has_rows(); });
}

Axis axis_of(std::int64_t size, Along along) { return size == 1 ? Axis{} : Axis{{size, along}}; }

Axis tidy(const Axis& axis) {
  Axis made;
  for (const Factor& one : axis) {
    if (one.size == 1) continue;
    if (!made.empty() && made.back().along == one.along && one.along != Along::kRows) {
      made.back().size *= one.size;
    } else {
      made.push_back(one);
    }
  }
  return made;
}

Axis weakened(const Axis& axis) {
  Axis made = axis;
  for (Factor& one : made) {
    if (one.along == Along::kSame) one.along = Along::kVaries;
  }
  return tidy(made);
}

RowFact fact_of(const xla::Shape& shape, Along along) {
  RowFact fact;
  if (shape.IsTuple()) {
    for (const auto& element : shape.tuple_shapes()) {
      fact.elements.push_back(fact_of(element, along));
    }
  } else if (shape.IsArray()) {
    for (const auto size : shape.dimensions()) fact.axes.push_back(axis_of(size, along));
  }
  return fact;
}

RowFact unknown(const xla::Shape& shape, const RowCause* cause) {
  RowFact fact = fact_of(shape, Along::kVaries);
  fact.cause = cause;
  for (std::size_t i = 0; i < fact.elements.size(); ++i) {
    fact.elements[i] = unknown(shape.tuple_shapes(static_cast<int>(i)), cause);
  }
  return fact;
}

RowFact known_fact(xla::Literal value) {
  RowFact fact;
  const xla::Shape& shape = value.shape();
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t size = shape.dimensions(d);
    const bool alike = is_alike(value, d, size, {});
    fact.axes.push_back(axis_of(size, alike ? Along::kSame : Along::kVaries));
  }
  fact.known = std::make_shared<const xla::Literal>(std::move(value));
  return fact;
}

std::optional<RowPlace> row_place(const Axis& axis) {
  RowPlace place;
  bool seen = false;
  for (const Factor& one : axis) {
    if (one.along == Along::kRows) {
      if (seen) return std::nullopt;
      seen = true;
    } else {
      (seen ? place.inner : place.outer) *= one.size;
    }
  }
  return seen ? std::optional(place) : std::nullopt;
}

std::optional<Axis> meet(const Axis& a, const Axis& b) {
  if (is_same(a)) return b;
  if (is_same(b)) return a;
  const auto aligned = align(a, b);
  Axis made;
  if (!aligned) {
    if (has_rows(a) || has_rows(b)) return std::nullopt;
    return axis_of(size_of(a), Along::kVaries);
  }
  for (const Aligned& one : *aligned) {
    const auto along = meet(one.a, one.b);
    if (!along) return std::nullopt;
    made.push_back({one.size, *along});
  }
  return tidy(made);
}

namespace {

std::optional<std::vector<Axis>> try_regroup(const Axis& factors,
                                             absl::Span<const std::int64_t> sizes) {
  std::vector<Axis> made;
  Front front(factors);
  for (const std::int64_t size : sizes) {
    Axis axis;
    for (std::int64_t rest = size; rest > 1;) {
      if (front.empty()) return std::nullopt;
      const std::int64_t next = std::gcd(rest, front.size());
      const bool whole = next == front.size() || next == rest;
      if (!whole || !front.can_take(next)) return std::nullopt;
      axis.push_back(front.take(next));
      rest /= next;
    }
    made.push_back(tidy(axis));
  }
  return made;
}

}  // namespace

std::optional<std::vector<Axis>> regroup(const std::vector<Axis>& axes,
                                         absl::Span<const std::int64_t> sizes) {
  Axis factors;
  for (const Axis& axis : axes) factors.insert(factors.end(), axis.begin(), axis.end());
  factors = tidy(factors);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return std::nullopt;
  if (auto made = try_regroup(factors, sizes)) return made;
  return try_regroup(weakened(factors), sizes);
}

std::optional<Axis> cut(const Axis& axis, const Piece& piece) {
  const std::int64_t size = size_of(axis);
  if (piece.start == 0 && piece.limit == size && piece.stride == 1) return axis;
  const std::int64_t count = (piece.limit - piece.start + piece.stride - 1) / piece.stride;
  if (!has_rows(axis)) {
    return axis_of(count, is_same(axis) ? Along::kSame : Along::kVaries);
  }
  const RowPlace place = row_place(axis).value_or(RowPlace{});
  const std::int64_t block = size / place.outer;  // the rows and everything inside them
  // Whole blocks.
  if (piece.stride == 1 && piece.start % block == 0 && count % block == 0) {
    Axis made = axis_of(count / block, Along::kVaries);
    bool inside = false;
    for (const Factor& one : axis) {
      inside = inside || one.along == Along::kRows;
      if (inside) made.push_back(one);
    }
    return tidy(made);
  }
  // The same element of every row.
  if (piece.stride == place.inner && piece.start < place.inner && count == size / place.inner) {
    Axis made;
    for (const Factor& one : axis) {
      made.push_back(one);
      if (one.along == Along::kRows) break;
    }
    return tidy(made);
  }
  return std::nullopt;
}

bool is_alike(const xla::Literal& value, std::int64_t dimension, std::int64_t batch,
              const RowPlace& place) {
  const xla::Shape& shape = value.shape();
  const auto width = static_cast<std::size_t>(xla::primitive_util::ByteWidth(shape.element_type()));
  std::int64_t before = place.outer;
  std::int64_t behind = place.inner;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d < dimension) before *= shape.dimensions(d);
    if (d > dimension) behind *= shape.dimensions(d);
  }
  const auto block = static_cast<std::size_t>(behind) * width;
  const char* bytes = static_cast<const char*>(value.untyped_data());
  for (std::int64_t i = 0; i < before; ++i) {
    const char* first = bytes + static_cast<std::size_t>(i * batch) * block;
    for (std::int64_t r = 1; r < batch; ++r) {
      if (!std::equal(first, first + block, first + static_cast<std::size_t>(r) * block)) {
        return false;
      }
    }
  }
  return true;
}

std::optional<std::vector<std::int64_t>> integers(const xla::Literal& value) {
  const auto type = value.shape().element_type();
  if (!xla::primitive_util::IsIntegralType(type)) return std::nullopt;
  auto wide = value.Convert(xla::S64);
  if (!wide.ok()) return std::nullopt;
  const auto data = wide->data<std::int64_t>();
  return std::vector<std::int64_t>(data.begin(), data.end());
}

}  // namespace tfaot::toolkit::engine
