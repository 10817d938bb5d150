// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/free_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The one dimension that the formula follows.
std::optional<std::size_t> only_dimension(const SizeFormula& formula) {
  std::optional<std::size_t> found;
  for (const SizeTerm& term : formula.terms) {
    for (std::size_t d = 0; d < term.powers.size(); ++d) {
      if (term.powers[d] == 0) continue;
      if (found && *found != d) return std::nullopt;
      found = d;
    }
  }
  return found;
}

bool is_linear(const SizeFormula& formula) {
  return formula.divisor == 1 && !formula.is_of_parts() &&
         std::ranges::all_of(formula.terms, [](const SizeTerm& term) {
           return std::ranges::all_of(term.powers, [](std::int64_t power) { return power <= 1; });
         });
}

// The size in the dimension's range at which the formula, which follows it alone, has this value.
// `sizes` is scratch.
std::optional<std::int64_t> size_giving(const SizeFormula& formula, const FreeDimension& dimension,
                                        std::int64_t number, std::int64_t& size,
                                        const std::vector<std::int64_t>& sizes) {
  const auto value = [&](std::int64_t at) {
    size = at;
    return size_at(formula, sizes);
  };
  // Nearly all are linear.
  const std::int64_t first = value(dimension.smallest);
  const std::int64_t slope = value(dimension.smallest + 1) - first;
  const std::int64_t guess = dimension.smallest + (slope == 0 ? 0 : (number - first) / slope);
  const bool is_inside = guess >= dimension.smallest && guess <= dimension.largest;
  if (is_inside && value(guess) == number) return guess;
  if (is_linear(formula)) return std::nullopt;
  for (std::int64_t at = dimension.smallest; at <= dimension.largest; ++at) {
    if (value(at) == number) return at;
  }
  return std::nullopt;
}

// Finds sizes axis by axis. To be used once.
class SizeFinder {
 public:
  explicit SizeFinder(const std::vector<FreeDimension>& sized)
      : sized_(sized), sizes_(sized.size()), places_(sized.size()) {}

  Status add(const TensorSpec& input, const std::vector<std::int64_t>& row_shape) {
    if (input.free_shape.empty()) return {};
    if (row_shape.size() != input.free_shape.size()) {
      return fail(Error(fmt::format("input '{}' has {} dimensions, and the model takes [rows, {}]",
                                    shown(input.name), row_shape.size() + 1,
                                    join(row_shape_texts(input, sized_), ", "))));
    }
    for (std::size_t d = 0; d < row_shape.size(); ++d) {
      TFAOT_TRY(add_axis(input, d, row_shape[d]));
    }
    return {};
  }

  Result<std::vector<std::int64_t>> sizes() && {
    for (std::size_t d = 0; d < sized_.size(); ++d) {
      if (!places_[d].empty()) continue;
      sizes_[d] = sized_[d].smallest;
      if (sized_[d].smallest == sized_[d].largest) continue;
      return fail(Error(
          fmt::format("the inputs' shapes leave the size of '{}' open", shown(sized_[d].name))));
    }
    return std::move(sizes_);
  }

 private:
  Status add_axis(const TensorSpec& input, std::size_t d, std::int64_t number) {
    const SizeFormula& formula = input.free_shape[d];
    const auto dimension = only_dimension(formula);
    if (!dimension) return {};
    const FreeDimension& free = sized_[*dimension];
    const std::string place = fmt::format("input '{}', axis {}", shown(input.name), d + 1);
    std::vector<std::int64_t> tried(sized_.size());
    const auto size = size_giving(formula, free, number, tried[*dimension], tried);
    if (!size) {
      const std::string text = formula_text(formula, sized_);
      const std::string of_name =
          text == free.name ? "" : fmt::format("'{}' from ", shown(free.name));
      return fail(Error(fmt::format("{}: '{}' is {}, but the code is for {}{} to {}", place,
                                    shown(text), number, of_name, free.smallest, free.largest)));
    }
    std::string& known = places_[*dimension];
    if (!known.empty() && sizes_[*dimension] != *size) {
      return fail(Error(fmt::format("{}: the size of '{}' is {}, but {} by {}", place,
                                    shown(free.name), *size, sizes_[*dimension], known)));
    }
    sizes_[*dimension] = *size;
    known = place;
    return {};
  }

  const std::vector<FreeDimension>& sized_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::string> places_;  // where each size comes from; empty: unknown
};

// The formula's value at sizes of at least 0; none if a step overflows.
std::optional<std::int64_t> checked_size_at(const SizeFormula& formula,
                                            const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t kLargestPower = 8;
  if (formula.divisor < 1) return std::nullopt;
  std::int64_t sum = 0;
  for (const SizeTerm& term : formula.terms) {
    std::int64_t value = term.factor;
    if (term.powers.size() > sizes.size()) return std::nullopt;
    if (term.within.size() > sizes.size()) return std::nullopt;
    if (std::ranges::any_of(term.within, [](const SizeSteps& one) { return one.step < 1; })) {
      return std::nullopt;
    }
    for (std::size_t d = 0; d < term.powers.size(); ++d) {
      if (term.powers[d] < 0 || term.powers[d] > kLargestPower) return std::nullopt;
      for (std::int64_t power = 0; power < term.powers[d]; ++power) {
        if (__builtin_mul_overflow(value, sizes[d], &value)) return std::nullopt;
      }
    }
    if (__builtin_add_overflow(sum, value, &sum)) return std::nullopt;
  }
  return formula.is_of_parts() ? size_at(formula, sizes) : sum / formula.divisor;
}

}  // namespace

std::string free_sizes_problem(const Signature& signature,
                               const std::vector<FreeDimension>& dimensions) {
  for (const FreeDimension& one : dimensions) {
    const bool is_range =
        0 <= one.smallest && one.smallest <= one.largest && one.largest <= kLargestSize;
    const bool has_size =
        one.same_as.empty() || std::ranges::any_of(dimensions, [&](const FreeDimension& other) {
          return other.name == one.same_as && other.same_as.empty();
        });
    if (!is_range || !has_size) {
      return fmt::format("the dimension '{}' has impossible sizes", shown(one.name));
    }
  }
  const std::vector<std::int64_t> largest = default_sizes(sized_dimensions(dimensions));
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (tensor.free_shape.empty()) continue;
      const auto fits = [&](const SizeFormula& formula, std::int64_t size) {
        // Of parts, others may be larger than that of the largest sizes.
        const auto number = checked_size_at(formula, largest);
        return formula.is_of_parts() ? number && *number <= size : number == size;
      };
      if (!std::ranges::equal(tensor.free_shape, tensor.row_shape, fits)) {
        return fmt::format("the free sizes of '{}' do not give its shape", shown(tensor.name));
      }
    }
  }
  return "";
}

std::vector<TensorSpec> tensors_at(std::vector<TensorSpec> tensors,
                                   const std::vector<std::int64_t>& sizes) {
  for (TensorSpec& tensor : tensors) {
    for (std::size_t d = 0; d < tensor.free_shape.size(); ++d) {
      tensor.row_shape[d] = size_at(tensor.free_shape[d], sizes);
    }
    tensor.free_shape.clear();
  }
  return tensors;
}

Signature signature_at(Signature signature, const std::vector<std::int64_t>& sizes) {
  signature.inputs = tensors_at(std::move(signature.inputs), sizes);
  signature.outputs = tensors_at(std::move(signature.outputs), sizes);
  return signature;
}

std::vector<std::string> row_shape_texts(const TensorSpec& tensor,
                                         const std::vector<FreeDimension>& sized) {
  if (tensor.free_shape.empty()) {
    return mapped(tensor.row_shape, [](std::int64_t size) { return std::to_string(size); });
  }
  return mapped(tensor.free_shape,
                [&](const SizeFormula& formula) { return shown(formula_text(formula, sized)); });
}

Result<std::vector<std::int64_t>> sizes_of_shapes(
    const std::vector<TensorSpec>& inputs, const std::vector<std::vector<std::int64_t>>& row_shapes,
    const std::vector<FreeDimension>& sized) {
  SizeFinder finder(sized);
  for (std::size_t i = 0; i < inputs.size(); ++i) TFAOT_TRY(finder.add(inputs[i], row_shapes[i]));
  return std::move(finder).sizes();
}

}  // namespace tfaot::toolkit
