// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/polynomial.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tfaot::toolkit::engine {
namespace {

constexpr std::size_t kPointsToCheck = 3;

using SizePowers = SizePolynomial::Powers;

// Pairs of a size with itself or another; triples of a single size.
int highest_degree(std::size_t sizes) { return sizes == 1 ? 3 : 2; }

SizePowers joined_powers(const SizePowers& a, const SizePowers& b) {
  SizePowers sum(std::max(a.size(), b.size()), 0);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0);
  }
  return sum;
}

void add_powers(std::size_t sizes, int degree, SizePowers begun, std::vector<SizePowers>& found) {
  if (begun.size() == sizes) {
    while (!begun.empty() && begun.back() == 0) begun.pop_back();
    return found.push_back(std::move(begun));
  }
  for (int power = 0; power <= degree; ++power) {
    SizePowers longer = begun;
    longer.push_back(power);
    add_powers(sizes, degree - power, std::move(longer), found);
  }
}

std::vector<SizePowers> all_powers(std::size_t sizes, int degree) {
  std::vector<SizePowers> found;
  add_powers(sizes, degree, {}, found);
  return found;
}

std::int64_t value_of(const SizePowers& powers, std::span<const std::int64_t> sizes) {
  std::int64_t value = 1;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    for (int power = 0; power < powers[i]; ++power) value *= sizes[i];
  }
  return value;
}

// True for powers of a size that is the same at all points.
bool has_fixed(const SizePowers& powers, const std::vector<std::vector<std::int64_t>>& points) {
  for (std::size_t d = 0; d < powers.size(); ++d) {
    const auto is_first = [&](const auto& point) { return point[d] == points.front()[d]; };
    if (powers[d] > 0 && std::ranges::all_of(points, is_first)) return true;
  }
  return false;
}

}  // namespace

SizePolynomial::SizePolynomial(std::int64_t number) : SizePolynomial({{{}, number}}, 1) {}

SizePolynomial::SizePolynomial(std::map<SizePowers, std::int64_t> terms, std::int64_t divisor)
    : terms_(std::move(terms)), divisor_(divisor) {
  std::erase_if(terms_, [](const auto& term) { return term.second == 0; });
  std::int64_t common = divisor_;
  for (const auto& [powers, factor] : terms_) common = std::gcd(common, factor);
  for (auto& [powers, factor] : terms_) factor /= common;
  divisor_ /= common;
}

struct SizePoints::Decomposed {
  std::vector<SizePowers> powers;
  Eigen::VectorXd lengths;  // of the columns of powers: a cube is far larger than a size
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> columns;
};

SizePoints::SizePoints(std::vector<std::vector<std::int64_t>> points) : points_(std::move(points)) {
  std::vector<Decomposed> all;
  for (int degree = 0; degree <= highest_degree(points_.front().size()); ++degree) {
    std::vector<SizePowers> powers = all_powers(points_.front().size(), degree);
    std::erase_if(powers, [&](const SizePowers& one) { return has_fixed(one, points_); });
    Eigen::MatrixXd monomials(points_.size(), powers.size());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (std::size_t j = 0; j < powers.size(); ++j) {
        monomials(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
            static_cast<double>(value_of(powers[j], points_[i]));
      }
    }
    Eigen::VectorXd lengths = monomials.colwise().norm().cwiseMax(1);
    monomials *= lengths.cwiseInverse().asDiagonal();
    all.push_back({std::move(powers), std::move(lengths), monomials.colPivHouseholderQr()});
  }
  of_degrees_ = std::make_shared<const std::vector<Decomposed>>(std::move(all));
}

std::optional<SizePolynomial> SizePolynomial::through(const SizePoints& points,
                                                      const std::vector<std::int64_t>& values) {
  for (const SizePoints::Decomposed& of_degree : *points.of_degrees_) {
    if (auto found = through(points, of_degree, values)) return found;
  }
  return std::nullopt;
}

std::optional<SizePolynomial> SizePolynomial::through(const SizePoints& points,
                                                      const SizePoints::Decomposed& of_degree,
                                                      const std::vector<std::int64_t>& values) {
  const auto& [powers, lengths, columns] = of_degree;
  Eigen::VectorXd wanted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    wanted[static_cast<Eigen::Index>(i)] = static_cast<double>(values[i]);
  }
  const Eigen::VectorXd factors = columns.solve(wanted).cwiseQuotient(lengths);
  // Counts of pairs have halves.
  constexpr std::int64_t kDivisor = 2;
  std::map<SizePowers, std::int64_t> terms;
  for (std::size_t j = 0; j < powers.size(); ++j) {
    terms[powers[j]] = std::llround(factors[static_cast<Eigen::Index>(j)] * kDivisor);
  }
  SizePolynomial found(std::move(terms), kDivisor);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (found.dividend_at(points.points_[i]) != values[i] * found.divisor_) return std::nullopt;
  }
  if (!found.is_whole_at_all(points.points_.front().size())) return std::nullopt;
  return found;
}

// Halves repeat with each second size: (n - 1) / 2 is whole at odd sizes alone, as primes are.
bool SizePolynomial::is_whole_at_all(std::size_t sizes) const {
  for (std::size_t odd = 0; odd < std::size_t{1} << sizes; ++odd) {
    std::vector<std::int64_t> point;
    for (std::size_t d = 0; d < sizes; ++d) {
      point.push_back(static_cast<std::int64_t>(odd >> d & 1U));
    }
    if (dividend_at(point) % divisor_ != 0) return false;
  }
  return true;
}

std::optional<std::int64_t> SizePolynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
  return terms_.begin()->second / divisor_;
}

std::optional<SizePolynomial> SizePolynomial::divided_by(std::int64_t number) const {
  std::map<SizePowers, std::int64_t> terms = terms_;
  for (auto& [powers, factor] : terms) {
    if (divisor_ != 1 || factor % number != 0) return std::nullopt;
    factor /= number;
  }
  return SizePolynomial(std::move(terms), 1);
}

SizeFormula SizePolynomial::formula() const {
  SizeFormula formula{.divisor = divisor_};
  for (const auto& [powers, factor] : terms_) {
    formula.terms.push_back({factor, {powers.begin(), powers.end()}});
  }
  return formula;
}

std::int64_t SizePolynomial::at(std::span<const std::int64_t> sizes) const {
  return dividend_at(sizes) / divisor_;
}

std::int64_t SizePolynomial::dividend_at(std::span<const std::int64_t> sizes) const {
  std::int64_t sum = 0;
  for (const auto& [powers, factor] : terms_) sum += factor * value_of(powers, sizes);
  return sum;
}

SizePolynomial operator+(const SizePolynomial& a, const SizePolynomial& b) {
  std::map<SizePowers, std::int64_t> terms;
  for (const auto& [powers, factor] : a.terms_) terms[powers] += factor * b.divisor_;
  for (const auto& [powers, factor] : b.terms_) terms[powers] += factor * a.divisor_;
  return {std::move(terms), a.divisor_ * b.divisor_};
}

SizePolynomial operator*(const SizePolynomial& a, const SizePolynomial& b) {
  std::map<SizePowers, std::int64_t> terms;
  for (const auto& [powers, factor] : a.terms_) {
    for (const auto& [more, other] : b.terms_) terms[joined_powers(powers, more)] += factor * other;
  }
  return {std::move(terms), a.divisor_ * b.divisor_};
}

std::optional<SizePolynomial> SizeFits::through(const SizeValues& values) {
  const auto [fit, is_new] = found_.try_emplace(values);
  if (!is_new) return fit->second;
  std::vector<bool> is_there;
  std::vector<std::vector<std::int64_t>> points;
  std::vector<std::int64_t> known;
  for (std::size_t i = 0; i < values.size(); ++i) {
    is_there.push_back(values[i].has_value());
    if (!values[i]) continue;
    points.push_back(points_[i]);
    known.push_back(*values[i]);
  }
  if (known.empty()) return fit->second;
  if (std::ranges::count(known, known.front()) == std::ssize(known)) {
    return fit->second = known.front();
  }
  const std::size_t least = std::min(points_to_fit(points.front().size()), points_.size());
  if (known.size() < least) return fit->second;
  const auto of_some = of_some_.try_emplace(is_there, std::move(points)).first;
  return fit->second = SizePolynomial::through(of_some->second, known);
}

std::size_t points_to_fit(std::size_t sizes) {
  return all_powers(sizes, highest_degree(sizes)).size() + kPointsToCheck;
}

}  // namespace tfaot::toolkit::engine
