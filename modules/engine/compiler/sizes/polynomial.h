// SPDX-License-Identifier: Apache-2.0
// Whole numbers that follow the free sizes of a model, such as the elements of a tensor. Used by
// one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit::engine {

// Sizes at which the values of a polynomial are known, decomposed once for all of them.
class SizePoints {
 public:
  // All of one length. Of fewer than points_to_fit(), more functions are polynomials. `bits`: of
  // each size, that polynomials may have.
  SizePoints(std::vector<std::vector<std::int64_t>> points,  // NOLINT(google-explicit-constructor)
             int bits = 0);

 private:
  friend class SizePolynomial;
  struct Decomposed;
  std::vector<std::vector<std::int64_t>> points_;
  int bits_;
  std::shared_ptr<const std::vector<Decomposed>> of_degrees_;  // from 0 on
};

// A polynomial of the sizes, in their order, that is whole at all whole sizes. Bits of the sizes
// may be in it, so that it can say what strides make: floor(n / 2) is (n - bit 0 of n) / 2.
class SizePolynomial {
 public:
  // Of the first size and its lowest bits, then of the next one; without zeros at the end.
  using Powers = std::vector<int>;
  static constexpr int kMostBits = 2;
  static constexpr std::size_t kVariables = 1 + kMostBits;  // of each size

  SizePolynomial() = default;
  SizePolynomial(std::int64_t number);  // NOLINT(google-explicit-constructor): it is one
  // The one of the lowest degree; nothing if none of a low one has these values.
  static std::optional<SizePolynomial> through(const SizePoints& points,
                                               const std::vector<std::int64_t>& values);

  std::optional<std::int64_t> constant() const;
  // The polynomial divided by this; nothing if that leaves a fraction.
  std::optional<SizePolynomial> divided_by(std::int64_t number) const;
  // Its bits become a quotient that is rounded down, or parts of sizes with the same bits.
  SizeFormula formula() const;
  std::int64_t at(std::span<const std::int64_t> sizes) const;

  // The value is the sum of factor * product of powers over all terms, divided by divisor().
  const std::map<Powers, std::int64_t>& terms() const { return terms_; }
  std::int64_t divisor() const { return divisor_; }

  friend SizePolynomial operator+(const SizePolynomial& a, const SizePolynomial& b);
  friend SizePolynomial operator*(const SizePolynomial& a, const SizePolynomial& b);
  friend bool operator==(const SizePolynomial&, const SizePolynomial&) = default;
  // Any order, for maps.
  friend bool operator<(const SizePolynomial& a, const SizePolynomial& b) {
    return std::tie(a.divisor_, a.terms_) < std::tie(b.divisor_, b.terms_);
  }

 private:
  SizePolynomial(std::map<Powers, std::int64_t> terms, std::int64_t divisor);
  static std::optional<SizePolynomial> through(const SizePoints& points,
                                               const SizePoints::Decomposed& of_degree,
                                               const std::vector<std::int64_t>& values);
  // Sizes that tell whether it is whole at all, or equal to another.
  std::vector<std::vector<std::int64_t>> telling_sizes() const;
  bool is_whole_at_all() const;
  std::optional<SizeFormula> quotient() const;
  std::int64_t dividend_at(std::span<const std::int64_t> sizes) const;

  std::map<Powers, std::int64_t> terms_;  // without zeros
  std::int64_t divisor_ = 1;              // has no factor in common with all terms
};

// floor((factor * size of a dimension + more) / divisor)
struct SizeQuotient {
  std::size_t dimension = 0;
  std::int64_t factor = 1;
  std::int64_t more = 0;
  std::int64_t divisor = 1;
};
// The one with these values, if they are more than a few, which others might have by chance.
std::optional<SizeQuotient> quotient_through(const std::vector<std::vector<std::int64_t>>& points,
                                             const std::vector<std::int64_t>& values);

// Values at some points; nothing at others, which a polynomial through them may pass by.
using SizeValues = std::vector<std::optional<std::int64_t>>;

// Polynomials through values at the same points, each found once.
class SizeFits {
 public:
  // `bits`: of each size, that polynomials may have.
  explicit SizeFits(int bits = 0) : bits_(bits) {}

  void add_point(std::vector<std::int64_t> point) { points_.push_back(std::move(point)); }
  const std::vector<std::vector<std::int64_t>>& points() const { return points_; }
  int bits() const { return bits_; }
  // Of one value at all points that have one, that number; else as SizePolynomial::through(), and
  // nothing if too few points have one.
  std::optional<SizePolynomial> through(const SizeValues& values);

 private:
  int bits_;
  std::vector<std::vector<std::int64_t>> points_;
  std::map<std::vector<bool>, SizePoints> of_some_;  // by which points have values
  std::map<SizeValues, std::optional<SizePolynomial>> found_;
};

// So many points fix a polynomial of so many sizes, and contradict most other functions.
std::size_t points_to_fit(std::size_t sizes, int bits = 0);

}  // namespace tfaot::toolkit::engine
