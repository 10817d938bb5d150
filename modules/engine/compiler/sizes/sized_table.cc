// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/sized_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {

bool is_inverse(double number) { return std::abs(number) < 1; }

std::int64_t whole_of(double number, bool inverse) {
  const double whole = inverse ? 1 / number : number;
  return std::isfinite(whole) && std::abs(whole) < 1e15 ? std::llround(whole) : 0;
}

bool rounds_to(double number, std::int64_t whole, bool inverse, xla::PrimitiveType type) {
  const double exact = inverse ? 1 / static_cast<double>(whole) : static_cast<double>(whole);
  return type == xla::F32 ? static_cast<float>(exact) == static_cast<float>(number)
                          : exact == number;
}

bool is_whole_type(xla::PrimitiveType type) {
  return type == xla::PRED || xla::primitive_util::IsIntegralType(type);
}

std::int64_t whole_at(const xla::LiteralBase& literal, absl::Span<const std::int64_t> index) {
  if (literal.shape().element_type() == xla::PRED) return literal.Get<bool>(index) ? 1 : 0;
  return literal.GetIntegralAsS64(index).value_or(0);
}

SizedTable::SizedTable(std::vector<const xla::Literal*> samples, SizeFits& fits)
    : samples_(std::move(samples)), fits_(fits) {
  for (const xla::Literal* one : samples_) is_same_ = is_same_ && *one == first();
  if (!first().shape().IsArray()) return;
  at_end_.resize(first().shape().dimensions().size());
  if (!is_same_) find_ends();
}

Dimensions SizedTable::place(absl::Span<const std::int64_t> index,
                             absl::Span<const std::int64_t> sizes) const {
  Dimensions place(index.begin(), index.end());
  for (std::size_t d = 0; d < place.size(); ++d) {
    if (place[d] >= sizes[d] - at_end_[d]) place[d] -= sizes[d];
  }
  return place;
}

bool SizedTable::has_places(absl::Span<const std::int64_t> sizes) const {
  const auto most = first().shape().dimensions();
  return std::ranges::equal(sizes, most, std::ranges::less_equal()) &&
         std::ranges::equal(at_end_, sizes, std::ranges::less_equal());
}

Dimensions SizedTable::index_in_first(const Dimensions& place) const {
  Dimensions index = place;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0) index[d] += first().shape().dimensions(static_cast<int>(d));
  }
  return index;
}

// No tensor is larger than the first one, so none has its last elements anywhere else.
bool SizedTable::is_never_read(const Dimensions& place) const {
  for (std::size_t d = 0; d < place.size(); ++d) {
    if (place[d] >= first().shape().dimensions(static_cast<int>(d)) - at_end_[d]) return true;
  }
  return false;
}

std::optional<SizedTable::Element> SizedTable::element(const Dimensions& place) {
  Element made{.is_same = true};
  if (is_same_ || is_never_read(place)) return made;
  const auto type = first().shape().element_type();
  const bool is_whole = is_whole_type(type);
  const Dimensions in_first = index_in_first(place);
  if (!is_whole) made.inverse = is_inverse(first().GetAsDouble(in_first).value_or(0));
  SizeValues values;
  std::vector<double> reals;
  for (const xla::Literal* sample : samples_) {
    values.emplace_back();
    reals.emplace_back();
    Dimensions index = place;
    bool has = true;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const std::int64_t size = sample->shape().dimensions(static_cast<int>(d));
      has = has && (place[d] < 0 ? place[d] + size >= 0 : place[d] < size - at_end_[d]);
      if (place[d] < 0) index[d] += size;
    }
    if (!has) continue;
    if (!is_whole) reals.back() = sample->GetAsDouble(index).value_or(0);
    values.back() = is_whole ? whole_at(*sample, index) : whole_of(reals.back(), made.inverse);
    made.is_same =
        made.is_same && (is_whole ? values.back() == values.front()
                                  : sample->GetAsString(index) == first().GetAsString(in_first));
  }
  if (made.is_same) return made;
  const auto fit = fits_.through(values);
  if (!fit) return std::nullopt;
  for (std::size_t i = 0; i < samples_.size() && !is_whole; ++i) {
    if (values[i] && !rounds_to(reals[i], fit->at(fits_.points()[i]), made.inverse, type)) {
      return std::nullopt;
    }
  }
  made.whole = *fit;
  return made;
}

// All elements, or some of a large table.
bool SizedTable::have_rules() {
  constexpr std::int64_t kMostElements = 4096;
  const xla::Shape& shape = first().shape();
  const std::int64_t step = xla::ShapeUtil::ElementsIn(shape) / kMostElements + 1;
  std::int64_t next = 0;
  bool have = true;
  xla::ShapeUtil::ForEachIndex(shape, [&](absl::Span<const std::int64_t> index) {
    if (next++ % step == 0) have = element(place(index, shape.dimensions())).has_value();
    return have;
  });
  return have;
}

// As few as give all elements a rule; none if no few do.
void SizedTable::find_ends() {
  constexpr std::int64_t kMostAtEnd = 8;
  if (have_rules()) return;
  for (std::size_t d = 0; d < at_end_.size(); ++d) {
    const auto size_in = [d](const xla::Literal* one) {
      return one->shape().dimensions(static_cast<int>(d));
    };
    const auto is_first = [&](const xla::Literal* one) {
      return size_in(one) == size_in(&first());
    };
    const bool is_fixed = std::ranges::all_of(samples_, is_first);
    if (!is_fixed) at_end_[d] = std::min(kMostAtEnd, size_in(&first()));
  }
  has_rules_ = have_rules();
  if (!has_rules_) std::ranges::fill(at_end_, 0);
  for (std::int64_t& count : at_end_) {
    while (count > 0) {
      --count;
      if (have_rules()) continue;
      ++count;
      break;
    }
  }
}

}  // namespace tfaot::toolkit::engine
