// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/free_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

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
  return std::ranges::all_of(formula.terms, [](const SizeTerm& term) {
    return std::ranges::all_of(term.powers, [](std::int64_t power) { return power == 0; });
  });
}

std::int64_t size_at(const SizeFormula& formula, const std::vector<std::int64_t>& sizes) {
  std::int64_t sum = 0;
  for (const SizeTerm& term : formula.terms) {
    std::int64_t value = term.factor;
    for (std::size_t d = 0; d < term.powers.size(); ++d) {
      for (std::int64_t power = 0; power < term.powers[d]; ++power) value *= sizes[d];
    }
    sum += value;
  }
  return std::min(sum / formula.divisor, formula.most);
}

std::string formula_text(const SizeFormula& formula, const std::vector<FreeDimension>& sized) {
  if (!formula.has_most()) return polynomial_text(formula, sized);
  return fmt::format("min({}, {})", polynomial_text(formula, sized), formula.most);
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
