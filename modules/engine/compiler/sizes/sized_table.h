// SPDX-License-Identifier: Apache-2.0
// A constant tensor that follows free sizes, such as how many elements each window of a pool has.
// Used by one thread.
#pragma once

#include <optional>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/sizes/polynomial.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// A whole number, or the inverse of one, by which a real constant follows sizes. `inverse`: the
// same for all samples of a constant.
bool is_inverse(double number);
std::int64_t whole_of(double number, bool inverse);
// True if `number` is that, rounded to the type.
bool rounds_to(double number, std::int64_t whole, bool inverse, xla::PrimitiveType type);

// Whole numbers or truth values, and one of them.
bool is_whole_type(xla::PrimitiveType type);
std::int64_t whole_at(const xla::LiteralBase& literal, absl::Span<const std::int64_t> index);

// Elements follow the sizes at their place, counted from the start of each dimension. A few at the
// end of a dimension may follow them at their place from there: a window at the end of a pool, or
// the last two rows of a resize.
class SizedTable {
 public:
  struct Element {
    bool is_same = false;  // as in the first sample
    bool inverse = false;
    SizePolynomial whole{};
  };
  // `samples`: at all points of the fits.
  SizedTable(std::vector<const xla::Literal*> samples, SizeFits& fits);

  bool is_same() const { return is_same_; }
  bool has_rules() const { return has_rules_; }
  const xla::Literal& first() const { return *samples_.front(); }
  // How many elements at the end of each dimension count from there.
  const Dimensions& at_end() const { return at_end_; }
  // The place of an element in a tensor of these sizes: from the start, or below 0 from the end.
  Dimensions place(absl::Span<const std::int64_t> index,
                   absl::Span<const std::int64_t> sizes) const;
  // Whether the tensor's sizes allow for this.
  bool has_places(absl::Span<const std::int64_t> sizes) const;
  // In the first sample.
  Dimensions index_in_first(const Dimensions& place) const;
  // Nothing: it follows no rule.
  std::optional<Element> element(const Dimensions& place);

 private:
  bool is_never_read(const Dimensions& place) const;
  bool have_rules();
  void find_ends();

  std::vector<const xla::Literal*> samples_;
  SizeFits& fits_;
  bool is_same_ = true;
  bool has_rules_ = true;
  Dimensions at_end_;
};

}  // namespace tfaot::toolkit::engine
