// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/same_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include "compiler/hlo/simplify.h"
#include "compiler/sizes/sized_table.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Numbers of both signs; positive ones, for logarithms and masks; and large ones, for limits.
struct Draw {
  double least, most;
  std::int64_t most_whole;
};
constexpr std::array kDraws = {Draw{-2, 2, 1}, Draw{0.01, 1, 9}, Draw{-40, 40, 99}};

Result<Value> random_value(const xla::Shape& shape, const Draw& draw, std::mt19937_64& random) {
  xla::Literal numbers(shape_of(xla::F64, shape.dimensions()));
  const bool is_whole = is_whole_type(shape.element_type());
  for (double& number : numbers.data<double>()) {
    const double part = static_cast<double>(random() >> 11U) * 0x1p-53;
    number = is_whole ? std::floor(part * static_cast<double>(draw.most_whole + 1))
                      : draw.least + part * (draw.most - draw.least);
  }
  TFAOT_ASSIGN(auto value, or_internal(numbers.Convert(shape.element_type())));
  return Value(std::make_shared<const xla::Literal>(std::move(value)));
}

// Empty: they are equal within rounding.
std::string difference_of_numbers(const xla::LiteralSlice& a, const xla::LiteralSlice& b) {
  const auto type = a.shape().element_type();
  if (!xla::ShapeUtil::Compatible(a.shape(), b.shape())) {
    return fmt::format("has the shape {} and not {}", xla::ShapeUtil::HumanString(b.shape()),
                       xla::ShapeUtil::HumanString(a.shape()));
  }
  if (!xla::primitive_util::IsFloatingPointType(type)) {
    return a == b ? "" : "has other elements";
  }
  const xla::Literal left = a.Convert(xla::F64).value();
  const xla::Literal right = b.Convert(xla::F64).value();
  const auto wanted = left.data<double>();
  const auto found = right.data<double>();
  double largest = 0;
  for (const double number : wanted) {
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  }
  const double rounding =
      largest * (1e-4 + 4 * std::ldexp(1, -xla::primitive_util::SignificandWidth(type)));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool is_same = wanted[i] == found[i] || (std::isnan(wanted[i]) && std::isnan(found[i])) ||
                         std::abs(wanted[i] - found[i]) <= rounding;
    if (!is_same) return fmt::format("has {} in place of {}", found[i], wanted[i]);
  }
  return {};
}

// An instruction that makes something of nothing, for which kernels have no code.
const HloInstruction* reader_of_nothing(const xla::HloModule& module) {
  for (const HloInstruction* one : instructions_of(module)) {
    const bool is_one = one->shape().IsArray() && elements_of(*one) > 0 &&
                        one->opcode() != kConcatenate && one->opcode() != kPad &&
                        std::ranges::any_of(one->operands(), [](const auto* operand) {
                          return xla::ShapeUtil::IsZeroElementArray(operand->shape());
                        });
    if (is_one) return one;
  }
  return nullptr;
}

Result<Value> result_of(const xla::HloModule& module, const Evaluator::Parameters& parameters) {
  return Evaluator(parameters).value(*module.entry_computation()->root_instruction());
}

// Whether the simplifier makes one module of both.
bool are_alike(const xla::HloModule& a, const xla::HloModule& b) {
  const auto simple = [](const xla::HloModule& module) -> Result<std::unique_ptr<xla::HloModule>> {
    TFAOT_ASSIGN(auto made, make_module(module.ToProto()));
    TFAOT_TRY(simplify(*made));
    return made;
  };
  const auto one = simple(a);
  const auto other = simple(b);
  return one && other && *(*one)->entry_computation() == *(*other)->entry_computation();
}

}  // namespace

std::string difference_of_values(const xla::HloModule& actual, const xla::HloModule& other,
                                 std::int64_t inputs, const Evaluator::Parameters& weights) {
  if (const auto* const one = reader_of_nothing(other)) {
    return fmt::format("{} reads no elements", xla::HloOpcodeString(one->opcode()));
  }
  if (are_alike(actual, other)) return {};
  std::mt19937_64 random;  // the same numbers every time
  for (const Draw& draw : kDraws) {
    std::map<std::int64_t, Value> drawn;
    const auto parameter = [&](const HloInstruction& one) -> Result<Value> {
      if (one.parameter_number() >= inputs) return weights(one);
      Value& value = drawn[one.parameter_number()];
      if (value == nullptr) {
        TFAOT_ASSIGN(value, random_value(one.shape(), draw, random));
      }
      return value;
    };
    const auto wanted = result_of(actual, parameter);
    const auto found = wanted ? result_of(other, parameter) : wanted;
    if (!found) return "values that cannot be compared: " + found.error().message();
    for (int i = 0; i < (*wanted)->shape().tuple_shapes_size(); ++i) {
      const std::string difference =
          difference_of_numbers(xla::LiteralSlice(**wanted, {i}), xla::LiteralSlice(**found, {i}));
      if (!difference.empty()) return fmt::format("result {} {}", i, difference);
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
