// SPDX-License-Identifier: Apache-2.0
// The numbers of a module that may follow free sizes: dimensions, bounds of slices, paddings,
// windows and the elements of constants. All other parts of it are its form. Used by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/sizes/polynomial.h"

namespace tfaot::toolkit::engine {

// For people: "slice of net/first".
std::string operation_of_layer(const HloInstruction& one);

// Those of an instruction without the elements of a constant, in an order of its own.
std::vector<std::int64_t> numbers_in(const HloInstruction& one);

// True if the two have the same instructions, apart from their numbers. `why_not` says what
// differs.
bool have_same_form(const xla::HloModule& a, const xla::HloModule& b, std::string& why_not);

// A whole number, or the inverse of one, by which a real constant follows sizes. `inverse`: the
// same for all samples of a constant.
bool is_inverse(double number);
std::int64_t whole_of(double number, bool inverse);
// True if `number` is that, rounded to the type.
bool rounds_to(double number, std::int64_t whole, bool inverse, xla::PrimitiveType type);

// The rule of a module's numbers, from modules at some sizes.
class SampledNumbers {
 public:
  // `bits`: of the sizes, that numbers may follow (SizePolynomial).
  explicit SampledNumbers(int bits = 0) : fits_(bits) {}

  // REQUIRES: of the same form as the modules before.
  void add(const Dimensions& sizes, std::unique_ptr<xla::HloModule> module);
  // REQUIRES, as for all below: there is a module.
  const xla::HloModule& first() const { return *modules_.front(); }

  // Whether all numbers have one.
  bool have_rules();
  // The first number without a rule that is a rounded quotient.
  std::optional<SizeQuotient> quotient();

  struct Difference {
    std::string what{};    // empty: nothing
    bool is_form = false;  // other operations, so that no numbers were compared
  };
  // Between the module at these sizes and what the rule says. Numbers that follow no rule are not
  // compared.
  Difference difference(const Dimensions& sizes, const xla::HloModule& module);
  // The module at these sizes by the rule. Error: a number has no rule, or the module is none.
  Result<std::unique_ptr<xla::HloModule>> module_at(const Dimensions& sizes);

 private:
  struct Element {
    bool is_same = false;  // as in the first module
    bool inverse = false;
    SizePolynomial whole{};
  };
  const xla::Literal& constant(std::size_t sample, std::size_t place) const {
    return orders_[sample][place]->literal();
  }
  std::optional<SizePolynomial> number(std::size_t place, std::size_t k);
  // Nothing: it follows no rule.
  std::optional<Element> element(std::size_t place, absl::Span<const std::int64_t> index);
  bool is_same_constant(std::size_t place);
  bool has_elements(std::size_t place, const Dimensions& sizes, const xla::Literal& actual);
  Result<xla::Literal> constant_at(std::size_t place, const xla::Shape& shape,
                                   const Dimensions& sizes);

  std::vector<std::unique_ptr<xla::HloModule>> modules_;
  std::vector<std::vector<HloInstruction*>> orders_;
  std::vector<std::vector<std::vector<std::int64_t>>> numbers_;  // of each module's instructions
  std::map<std::size_t, bool> same_constants_;                   // by place in the orders
  SizeFits fits_;
};

}  // namespace tfaot::toolkit::engine
