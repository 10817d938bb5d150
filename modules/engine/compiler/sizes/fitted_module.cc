// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/fitted_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tfaot::toolkit::engine {
namespace {

// The layer of an instruction, or else of the nearest one that has a name: of what reads it first.
std::string nearest_layer(const HloInstruction& one) {
  constexpr std::size_t kMostLooked = 64;
  std::vector<const HloInstruction*> looked = {&one};
  for (std::size_t i = 0; i < looked.size(); ++i) {
    if (!looked[i]->metadata().op_name().empty()) return looked[i]->metadata().op_name();
    const auto add = [&](const auto& others) {
      for (const HloInstruction* other : others) {
        const bool is_new = looked.size() < kMostLooked && std::ranges::count(looked, other) == 0;
        if (is_new) looked.push_back(other);
      }
    };
    add(looked[i]->users());
    add(looked[i]->operands());
  }
  return "";
}

}  // namespace

bool are_fixed(const Sizes& sizes) {
  return std::ranges::all_of(
      sizes, [](const SizePolynomial& size) { return size.constant().has_value(); });
}

absl::Span<const xla::Shape> part_shapes(const HloInstruction& one) {
  if (one.shape().IsTuple()) return one.shape().tuple_shapes();
  return {&one.shape(), 1};
}

Status FittedModule::read() {
  for (const SizeSample& sample : samples_) fits_.add_point(sample.sizes);
  TFAOT_ASSIGN(first_, make_module(samples_.front().model->computation.proto()));
  const std::vector<HloInstruction*> order = instructions_of(*first_);
  for (const HloInstruction* one : order) places_.emplace(one, places_.size());
  for (const HloInstruction* one : order) {
    if (one->opcode() == kWhile || one->opcode() == kConditional || calls_the_same(*one)) continue;
    return fail(no_free_size(*one, "calls a function of other numbers at other sizes"));
  }
  return {};
}

// At all sizes.
bool FittedModule::calls_the_same(const HloInstruction& one) const {
  for (std::size_t i = 1; i < samples_.size(); ++i) {
    for (std::size_t k = 0; k < one.called_computations().size(); ++k) {
      const xla::HloComputation& other = *at_sample(one, i).called_computations()[k];
      if (*one.called_computations()[k] != other) return false;
    }
  }
  return true;
}

Error FittedModule::no_free_size(const HloInstruction& one, const std::string& why) const {
  const std::string layer = nearest_layer(one);
  return Error(fmt::format("{} {}, which cannot follow a free size",
                           layer.empty() ? "the model" : "node '" + layer + "'", why))
      .note(fmt::format("its operation in the compiler: {}", xla::HloOpcodeString(one.opcode())));
}

const HloInstruction& FittedModule::at_sample(const HloInstruction& one, std::size_t sample) const {
  return *samples_[sample].module->order[places_.at(&one)];
}

// The number of an instruction, by the sizes.
Result<SizePolynomial> FittedModule::number_of(
    const HloInstruction& one, const std::function<std::int64_t(const HloInstruction&)>& number) {
  SizeValues values;
  for (std::size_t i = 0; i < samples_.size(); ++i) values.emplace_back(number(at_sample(one, i)));
  if (const auto found = fits_.through(values)) return *found;
  std::vector<double> numbers;
  for (const auto& value : values) numbers.push_back(static_cast<double>(*value));
  return fail(no_rule(one, numbers));
}

// "floor((n + 1)/2)", or the numbers at some sizes.
Error FittedModule::no_rule(const HloInstruction& one, const std::vector<double>& values) const {
  constexpr std::size_t kShown = 3;
  const auto name = [&](std::size_t d) {
    return d < options_.names.size() ? options_.names[d] : fmt::format("size {}", d + 1);
  };
  Dimensions wholes;
  for (const double value : values) wholes.push_back(std::llround(value));
  const bool are_whole = std::ranges::equal(values, wholes, [](double value, std::int64_t whole) {
    return value == static_cast<double>(whole);
  });
  if (const auto found = quotient_through(fits_.points(), wholes); found && are_whole) {
    const auto [d, factor, more, divisor] = *found;
    const std::string times = factor == 1 ? name(d) : fmt::format("{} * {}", factor, name(d));
    return no_free_size(one, more == 0
                                 ? fmt::format("needs floor({} / {})", times, divisor)
                                 : fmt::format("needs floor(({} {} {}) / {})", times,
                                               more < 0 ? '-' : '+', std::abs(more), divisor));
  }
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    std::vector<std::string> sizes;
    for (std::size_t d = 0; d < largest_.size(); ++d) {
      sizes.push_back(fmt::format("{} = {}", name(d), fits_.points()[i][d]));
    }
    shown.push_back(fmt::format(
        "{} at {}", are_whole ? std::to_string(wholes[i]) : fmt::format("{:g}", values[i]),
        fmt::join(sizes, ", ")));
  }
  return no_free_size(one, fmt::format("needs the number {}", fmt::join(shown, "; ")));
}

Result<Sizes> FittedModule::numbers_of(
    const HloInstruction& one, std::int64_t count,
    const std::function<std::int64_t(const HloInstruction&, int)>& number) {
  Sizes numbers;
  for (int i = 0; i < count; ++i) {
    TFAOT_ASSIGN(SizePolynomial found,
                 number_of(one, [&](const HloInstruction& sample) { return number(sample, i); }));
    numbers.push_back(std::move(found));
  }
  return numbers;
}

Result<Sizes> FittedModule::sizes_of(const HloInstruction& one, std::size_t part) {
  return numbers_of(one, part_shapes(one)[part].rank(), [part](const auto& sample, int d) {
    return part_shapes(sample)[part].dimensions(d);
  });
}

Result<Sizes> FittedModule::sizes_of(const HloInstruction& one) {
  const auto known = sizes_.find(&one);
  if (known != sizes_.end()) return known->second;
  TFAOT_ASSIGN(Sizes sizes, sizes_of(one, 0));
  return sizes_[&one] = std::move(sizes);
}

// So many elements at most. A number with bits may be larger below the largest size.
std::int64_t FittedModule::most(const SizePolynomial& number, const Dimensions& largest) const {
  std::int64_t most = number.at(largest);
  for (std::int64_t less = 1; less < std::int64_t{1} << options_.bits; ++less) {
    for (std::size_t d = 0; d < largest.size(); ++d) {
      Dimensions sizes = largest;
      sizes[d] = std::max<std::int64_t>(sizes[d] - less, 0);
      most = std::max(most, number.at(sizes));
    }
  }
  for (const Dimensions& point : fits_.points()) {
    const bool is_within = std::ranges::equal(point, largest, std::ranges::less_equal());
    if (is_within) most = std::max(most, number.at(point));
  }
  return most;
}

// Has no number that follows a size, and reads nothing that does.
bool FittedModule::is_fixed(const HloInstruction& one) {
  const auto known = fixed_.find(&one);
  if (known != fixed_.end()) return known->second;
  const bool is = is_fixed_value(one) && has_same_numbers(one) && has_fixed_operands(one);
  return fixed_[&one] = is;
}

// Its value is not a vector of the most elements.
bool FittedModule::is_fixed_value(const HloInstruction& one) {
  const auto sizes = one.shape().IsArray() ? sizes_of(one) : Result<Sizes>(Sizes());
  return sizes.has_value() && are_fixed(*sizes);
}

bool FittedModule::has_same_numbers(const HloInstruction& one) const {
  const std::size_t place = places_.at(&one);
  return std::ranges::all_of(samples_, [&](const SizeSample& sample) {
    return sample.module->numbers[place] == samples_.front().module->numbers[place];
  });
}

bool FittedModule::is_same_at_all(const HloInstruction& one) const {
  return has_same_numbers(one) && calls_the_same(one);
}

bool FittedModule::has_fixed_operands(const HloInstruction& one) {
  return std::ranges::all_of(
      one.operands(), [this](const HloInstruction* operand) { return is_fixed_value(*operand); });
}

}  // namespace tfaot::toolkit::engine
