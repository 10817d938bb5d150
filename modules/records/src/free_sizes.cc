// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/free_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// "n", "n^2*m"; empty for a constant.
std::string powers_text(const SizeTerm& term, const std::vector<FreeDimension>& sized) {
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < std::min(term.powers.size(), sized.size()); ++d) {
    if (term.powers[d] == 0) continue;
    parts.push_back(term.powers[d] == 1 ? sized[d].name
                                        : fmt::format("{}^{}", sized[d].name, term.powers[d]));
  }
  return join(parts, "*");
}

bool counts_at(const SizeTerm& term, const std::vector<std::int64_t>& sizes) {
  for (std::size_t d = 0; d < term.within.size(); ++d) {
    const auto& [smallest, largest, step] = term.within[d];
    const bool is_it = sizes[d] >= smallest && sizes[d] <= largest &&  //
                       (sizes[d] - smallest) % step == 0;
    if (!is_it) return false;
  }
  return true;
}

// "n <= 53", "n = 3, 5..63"; empty for all sizes of the dimension.
std::string steps_text(const SizeSteps& steps, const FreeDimension& of) {
  const bool is_from_start = steps.smallest - steps.step < of.smallest;
  const std::int64_t most = std::min(steps.largest, of.largest);
  const std::int64_t last = most - (most - steps.smallest) % steps.step;
  if (steps.smallest == last) return fmt::format("{} = {}", of.name, last);
  if (steps.step > 1) {
    return fmt::format("{} = {}, {}..{}", of.name, steps.smallest, steps.smallest + steps.step,
                       last);
  }
  if (last == of.largest) {
    return is_from_start ? "" : fmt::format("{} >= {}", of.name, steps.smallest);
  }
  if (is_from_start) return fmt::format("{} <= {}", of.name, last);
  return fmt::format("{} = {}..{}", of.name, steps.smallest, last);
}

// Constants come last.
std::string polynomial_text(const SizeFormula& formula, const std::vector<FreeDimension>& sized) {
  std::vector<SizeTerm> terms = formula.terms;
  std::stable_partition(terms.begin(), terms.end(),
                        [](const SizeTerm& term) { return !term.powers.empty(); });
  std::string text;
  for (const SizeTerm& term : terms) {
    const std::string powers = powers_text(term, sized);
    const std::int64_t factor = std::abs(term.factor);
    const char* const sign = term.factor < 0 ? (text.empty() ? "-" : " - ")  //
                                             : (text.empty() ? "" : " + ");
    text += sign;
    if (powers.empty() || factor != 1) text += std::to_string(factor);
    if (!powers.empty()) text += (factor == 1 ? "" : "*") + powers;
  }
  if (text.empty()) text = "0";
  if (formula.divisor == 1) return text;
  if (terms.size() > 1) text = "(" + text + ")";
  return fmt::format("{}/{}", text, formula.divisor);
}

// "min(n, 54)" or "max(n, 16)", if the only size gives that in its whole range.
std::optional<std::string> cut_text(const SizeFormula& formula,
                                    const std::vector<SizeFormula>& parts,
                                    const std::vector<FreeDimension>& sized) {
  constexpr std::int64_t kMostSizes = 10'000;
  if (parts.size() < 2 || sized.size() != 1) return std::nullopt;
  const auto& [name, smallest, largest, same_as, step] = sized.front();
  if (largest - smallest > kMostSizes) return std::nullopt;
  for (SizeFormula one : parts) {
    for (SizeTerm& term : one.terms) term.within.clear();
    for (SizeFormula other : parts) {
      for (SizeTerm& term : other.terms) term.within.clear();
      if (is_constant(one) || !is_constant(other)) continue;
      const std::int64_t limit = size_at(other, {smallest});
      bool is_least = true;
      bool is_most = true;
      for (std::int64_t size = smallest; size <= largest; size += step) {
        const std::int64_t number = size_at(one, {size});
        is_least = is_least && size_at(formula, {size}) == std::min(number, limit);
        is_most = is_most && size_at(formula, {size}) == std::max(number, limit);
      }
      if (!is_least && !is_most) continue;
      return fmt::format("{}({}, {})", is_least ? "min" : "max", polynomial_text(one, sized),
                         polynomial_text(other, sized));
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<FreeDimension> sized_dimensions(const std::vector<FreeDimension>& all) {
  std::vector<FreeDimension> sized;
  std::ranges::copy_if(all, std::back_inserter(sized),
                       [](const FreeDimension& one) { return one.same_as.empty(); });
  return sized;
}

std::vector<std::int64_t> default_sizes(const std::vector<FreeDimension>& sized) {
  return mapped(sized, &FreeDimension::largest);
}

bool is_constant(const SizeFormula& formula) {
  return !formula.is_of_parts() && std::ranges::all_of(formula.terms, [](const SizeTerm& term) {
    return std::ranges::all_of(term.powers, [](std::int64_t power) { return power == 0; });
  });
}

std::int64_t size_at(const SizeFormula& formula, const std::vector<std::int64_t>& sizes) {
  std::int64_t sum = 0;
  for (const SizeTerm& term : formula.terms) {
    if (!counts_at(term, sizes)) continue;
    std::int64_t value = term.factor;
    for (std::size_t d = 0; d < term.powers.size(); ++d) {
      for (std::int64_t power = 0; power < term.powers[d]; ++power) value *= sizes[d];
    }
    sum += value;
  }
  return sum / formula.divisor;
}

std::string formula_text(const SizeFormula& formula, const std::vector<FreeDimension>& sized) {
  std::vector<SizeFormula> parts;
  for (const SizeTerm& term : formula.terms) {
    const auto part = std::ranges::find_if(
        parts, [&](const SizeFormula& one) { return one.terms.front().within == term.within; });
    if (part == parts.end()) {
      parts.push_back({{term}, formula.divisor});
    } else {
      part->terms.push_back(term);
    }
  }
  if (parts.empty()) return "0";
  if (const auto cut = cut_text(formula, parts, sized)) return *cut;
  std::vector<std::string> texts;
  for (const SizeFormula& part : parts) {
    std::vector<std::string> where;
    const std::vector<SizeSteps>& within = part.terms.front().within;
    for (std::size_t d = 0; d < std::min(within.size(), sized.size()); ++d) {
      std::string text = steps_text(within[d], sized[d]);
      if (!text.empty()) where.push_back(std::move(text));
    }
    texts.push_back(polynomial_text(part, sized) +
                    (where.empty() ? "" : " if " + join(where, " and ")));
  }
  return join(texts, "; ");
}

std::string range_word(const FreeDimension& dimension) {
  if (!dimension.same_as.empty()) return dimension.same_as;
  return fmt::format("{}..{}", dimension.smallest, dimension.largest);
}

std::string range_text(const FreeDimension& dimension) {
  return dimension.name + "=" + range_word(dimension);
}

std::vector<DimensionSize> named_sizes(const std::vector<FreeDimension>& dimensions,
                                       const std::vector<std::int64_t>& sizes) {
  const std::vector<FreeDimension> sized = sized_dimensions(dimensions);
  return mapped(dimensions, [&](const FreeDimension& one) {
    const std::string& name = one.same_as.empty() ? one.name : one.same_as;
    const auto place = std::ranges::find(sized, name, &FreeDimension::name) - sized.begin();
    return DimensionSize{one.name, sizes[static_cast<std::size_t>(place)]};
  });
}

std::string named_sizes_text(const std::vector<DimensionSize>& sizes) {
  return join(
      mapped(sizes,
             [](const DimensionSize& one) { return fmt::format("{}={}", one.name, one.size); }),
      ", ");
}

}  // namespace tfaot::toolkit
