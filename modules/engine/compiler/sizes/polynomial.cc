// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/polynomial.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace tfaot::toolkit::engine {
namespace {

constexpr std::size_t kPointsToCheck = 3;

using SizePowers = SizePolynomial::Powers;

// Pairs of a size with itself or another; triples of a single size.
int highest_degree(std::size_t sizes) { return sizes == 1 ? 3 : 2; }

constexpr std::size_t kVariables = SizePolynomial::kVariables;

// Which bit of its size a variable is, from 1 on; 0: the size.
int bit_of(std::size_t variable) { return static_cast<int>(variable % kVariables); }

// A power of a bit is the bit.
SizePowers joined_powers(const SizePowers& a, const SizePowers& b) {
  SizePowers sum(std::max(a.size(), b.size()), 0);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0);
    if (bit_of(i) > 0) sum[i] = std::min(sum[i], 1);
  }
  return sum;
}

// All bits of a size together count as one factor: they tell what is left of a quotient.
void add_powers(std::size_t variables, int bits, int degree, SizePowers begun,
                std::vector<SizePowers>& found) {
  if (begun.size() == variables) {
    while (!begun.empty() && begun.back() == 0) begun.pop_back();
    return found.push_back(std::move(begun));
  }
  const int bit = bit_of(begun.size());
  const bool has_bits = bit > 1 && std::count(begun.end() - (bit - 1), begun.end(), 1) > 0;
  const int cost = has_bits ? 0 : 1;
  const int most = bit == 0 ? degree : (bit <= bits && cost <= degree ? 1 : 0);
  for (int power = 0; power <= most; ++power) {
    SizePowers longer = begun;
    longer.push_back(power);
    add_powers(variables, bits, degree - power * cost, std::move(longer), found);
  }
}

std::vector<SizePowers> all_powers(std::size_t sizes, int degree, int bits) {
  std::vector<SizePowers> found;
  add_powers(sizes * kVariables, bits, degree, {}, found);
  return found;
}

std::int64_t value_of(const SizePowers& powers, std::span<const std::int64_t> sizes) {
  std::int64_t value = 1;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const std::int64_t size = sizes[i / kVariables];
    const std::int64_t factor = bit_of(i) == 0 ? size : size >> (bit_of(i) - 1) & 1;
    for (int power = 0; power < powers[i]; ++power) value *= factor;
  }
  return value;
}

// All vectors of numbers of which each is one of so many from the first one on.
std::vector<std::vector<std::int64_t>> all_from(std::int64_t first,
                                                const std::vector<std::int64_t>& counts) {
  std::vector<std::vector<std::int64_t>> all = {{}};
  for (const std::int64_t count : counts) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& begun : all) {
      for (std::int64_t number = first; number < first + count; ++number) {
        longer.push_back(begun);
        longer.back().push_back(number);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// True for powers of a size that is the same at all points.
bool has_fixed(const SizePowers& powers, const std::vector<std::vector<std::int64_t>>& points) {
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const std::size_t d = i / kVariables;
    const auto is_first = [&](const auto& point) { return point[d] == points.front()[d]; };
    if (powers[i] > 0 && std::ranges::all_of(points, is_first)) return true;
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

SizePoints::SizePoints(std::vector<std::vector<std::int64_t>> points, int bits)
    : points_(std::move(points)), bits_(bits) {
  std::vector<Decomposed> all;
  for (int degree = 0; degree <= highest_degree(points_.front().size()); ++degree) {
    std::vector<SizePowers> powers = all_powers(points_.front().size(), degree, bits);
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
  if (points.bits_ > 0 && columns.rank() < std::ssize(powers)) return std::nullopt;
  const Eigen::VectorXd factors = columns.solve(wanted).cwiseQuotient(lengths);
  // Counts of pairs have halves, and so has each factor with bits.
  const std::int64_t divisor = std::int64_t{2}
                               << (points.bits_ * highest_degree(points.points_.front().size()));
  std::map<SizePowers, std::int64_t> terms;
  for (std::size_t j = 0; j < powers.size(); ++j) {
    terms[powers[j]] =
        std::llround(factors[static_cast<Eigen::Index>(j)] * static_cast<double>(divisor));
  }
  SizePolynomial found(std::move(terms), divisor);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (found.dividend_at(points.points_[i]) != values[i] * found.divisor_) return std::nullopt;
  }
  if (!found.is_whole_at_all()) return std::nullopt;
  return found;
}

// Between sizes of the same bits it is a polynomial, whose degree tells how many of them fix it.
// None is small, as numbers below 0 are rounded up.
std::vector<std::vector<std::int64_t>> SizePolynomial::telling_sizes() const {
  std::vector<std::int64_t> turns;
  for (const auto& [powers, factor] : terms_) {
    turns.resize(std::max(turns.size(), (powers.size() + kVariables - 1) / kVariables), 1);
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (powers[i] > 0) turns[i / kVariables] = std::int64_t{1} << (kMostBits + 2);
    }
  }
  constexpr std::int64_t kFirst = 256;
  return all_from(kFirst, turns);
}

bool SizePolynomial::is_whole_at_all() const {
  return divisor_ == 1 || std::ranges::all_of(telling_sizes(), [&](const auto& sizes) {
           return dividend_at(sizes) % divisor_ == 0;
         });
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
  if (auto found = quotient()) return *std::move(found);
  // The lowest bits of each size that it follows.
  std::vector<std::int64_t> steps;
  for (const auto& [powers, factor] : terms_) {
    steps.resize(std::max(steps.size(), (powers.size() + kVariables - 1) / kVariables), 1);
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (powers[i] == 0) continue;
      std::int64_t& step = steps[i / kVariables];
      step = std::max(step, std::int64_t{1} << bit_of(i));
    }
  }
  SizeFormula formula{.terms = {}, .divisor = divisor_};
  for (const std::vector<std::int64_t>& rests : all_from(0, steps)) {
    std::vector<SizeSteps> within;
    for (std::size_t d = 0; d < rests.size(); ++d) {
      within.push_back({.smallest = rests[d], .step = steps[d]});
    }
    std::map<std::vector<std::int64_t>, std::int64_t> factors;  // by powers of the sizes
    for (const auto& [powers, factor] : terms_) {
      std::vector<std::int64_t> of_sizes;
      std::int64_t bits = 1;
      for (std::size_t i = 0; i < powers.size(); ++i) {
        if (bit_of(i) == 0) of_sizes.push_back(powers[i]);
        if (bit_of(i) > 0 && powers[i] > 0) bits *= rests[i / kVariables] >> (bit_of(i) - 1) & 1;
      }
      while (!of_sizes.empty() && of_sizes.back() == 0) of_sizes.pop_back();
      factors[of_sizes] += bits * factor;
    }
    for (const auto& [powers, factor] : factors) {
      if (factor != 0) formula.terms.push_back({factor, powers, within});
    }
  }
  return formula;
}

std::optional<SizeFormula> SizePolynomial::quotient() const {
  SizeFormula formula{.divisor = divisor_};
  std::int64_t constant = 0;
  bool has_bits = false;
  for (const auto& [powers, factor] : terms_) {
    std::vector<std::int64_t> of_sizes;
    bool is_of_bits = false;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (bit_of(i) == 0) of_sizes.push_back(powers[i]);
      is_of_bits = is_of_bits || (bit_of(i) > 0 && powers[i] > 0);
    }
    has_bits = has_bits || is_of_bits;
    if (is_of_bits) continue;
    if (of_sizes.empty()) constant = factor;
    if (!of_sizes.empty()) formula.terms.push_back({factor, std::move(of_sizes)});
  }
  const std::size_t others = formula.terms.size();
  for (std::int64_t more = 0; more < (has_bits ? divisor_ : 1); ++more) {
    formula.terms.resize(others);
    if (constant + more != 0) formula.terms.push_back({constant + more});
    const bool is_it = !has_bits || std::ranges::all_of(telling_sizes(), [&](const auto& sizes) {
      return size_at(formula, sizes) == at(sizes);
    });
    if (is_it) return formula;
  }
  return std::nullopt;
}

std::optional<SizeQuotient> quotient_through(const std::vector<std::vector<std::int64_t>>& points,
                                             const std::vector<std::int64_t>& values) {
  constexpr std::int64_t kMostDivisor = 32;
  constexpr std::int64_t kMostFactor = 16;
  constexpr std::size_t kFew = 3;
  if (std::set(values.begin(), values.end()).size() <= kFew) return std::nullopt;
  for (std::size_t d = 0; d < points.front().size(); ++d) {
    for (std::int64_t divisor = 2; divisor <= kMostDivisor; ++divisor) {
      for (std::int64_t factor = 1; factor <= kMostFactor; ++factor) {
        if (std::gcd(factor, divisor) != 1) continue;
        // Each value leaves a few numbers to add.
        std::int64_t least = std::numeric_limits<std::int64_t>::min();
        std::int64_t most = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 0; i < points.size() && least <= most; ++i) {
          const std::int64_t rest = values[i] * divisor - factor * points[i][d];
          least = std::max(least, rest);
          most = std::min(most, rest + divisor - 1);
        }
        if (least > most) continue;
        // Samples leave some open; rounded down or up is the likely one.
        std::int64_t more = least;
        for (const std::int64_t likely : {divisor - 1, std::int64_t{0}}) {
          if (least <= likely && likely <= most) more = likely;
        }
        return SizeQuotient{d, factor, more, divisor};
      }
    }
  }
  return std::nullopt;
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
  const std::size_t least = std::min(points_to_fit(points.front().size(), bits_), points_.size());
  if (known.size() < least) return fit->second;
  const auto of_some = of_some_.try_emplace(is_there, std::move(points), bits_).first;
  return fit->second = SizePolynomial::through(of_some->second, known);
}

std::size_t points_to_fit(std::size_t sizes, int bits) {
  return all_powers(sizes, highest_degree(sizes), bits).size() + kPointsToCheck;
}

}  // namespace tfaot::toolkit::engine
