// SPDX-License-Identifier: Apache-2.0
// The numbers of a module that may follow free sizes: dimensions, bounds of slices, paddings,
// windows and the elements of constants. All other parts of it are its form. Used by one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/sizes/polynomial.h"
#include "compiler/sizes/sized_table.h"

namespace tfaot::toolkit::engine {

// For people: "slice of net/first".
std::string operation_of_layer(const HloInstruction& one);

// A module whose instructions were read: operands and what is called come first.
struct ReadModule {
  explicit ReadModule(std::unique_ptr<xla::HloModule> read);

  std::shared_ptr<const xla::HloModule> module;
  std::vector<HloInstruction*> order;
  std::vector<std::string> forms;                  // of each instruction: all but its numbers
  std::vector<std::vector<std::int64_t>> numbers;  // in an order of its own; no elements
};
using SharedModule = std::shared_ptr<const ReadModule>;

// True if the two have the same instructions, apart from their numbers. `why_not` says what
// differs.
bool have_same_form(const ReadModule& a, const ReadModule& b, std::string& why_not);

// The rule of a module's numbers, from modules at some sizes.
class SampledNumbers {
 public:
  // `bits`: of the sizes, that numbers may follow (SizePolynomial).
  explicit SampledNumbers(int bits = 0) : fits_(bits) {}

  // REQUIRES: of the same form as the modules before.
  void add(const Dimensions& sizes, SharedModule module);
  // REQUIRES, as for all below: there is a module.
  const ReadModule& first() const { return *modules_.front(); }

  // Whether all numbers have one, apart from elements of constants.
  bool have_rules();
  // Whether the elements of all constants have one.
  bool have_constants();
  // By which step of a dimension the first number without a rule goes, or a constant.
  struct Step {
    std::size_t dimension = 0;
    std::int64_t step = 1;
  };
  std::optional<Step> step_of_numbers();

  struct Difference {
    std::string what{};    // empty: nothing
    bool is_form = false;  // other operations, so that no numbers were compared
  };
  // Between the module at these sizes and what the rule says. Numbers that follow no rule are not
  // compared.
  Difference difference(const Dimensions& sizes, const ReadModule& module);
  // Of a module of the same form at this size, the only one, if these numbers show how its numbers
  // follow it: not at all, or in proportion. Nothing: they do otherwise.
  std::optional<SampledNumbers> in_proportion(std::int64_t size, const SharedModule& module);
  // The module at these sizes by the rule. Error: a number has no rule, or the module is none.
  Result<std::unique_ptr<xla::HloModule>> module_at(const Dimensions& sizes);

 private:
  std::optional<SizePolynomial> number(std::size_t place, std::size_t k);
  const xla::Literal& constant(std::size_t sample, std::size_t place) const {
    return modules_[sample]->order[place]->literal();
  }
  SizedTable& table(std::size_t place);
  std::optional<Step> step_of(std::size_t place) const;
  bool has_elements(std::size_t place, const Dimensions& sizes, const xla::Literal& actual);
  Result<xla::Literal> constant_at(std::size_t place, const xla::Shape& shape,
                                   const Dimensions& sizes);

  std::vector<SharedModule> modules_;
  SizeFits fits_;
  std::map<std::size_t, SizedTable> tables_;  // of constants, by place in the orders
};

}  // namespace tfaot::toolkit::engine
