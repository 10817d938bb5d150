// SPDX-License-Identifier: Apache-2.0
// The instructions of a model that was optimised at some sizes. Their numbers are polynomials of
// the sizes, or there is an error that names the node. Used by one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/sizes/polynomial.h"
#include "compiler/sizes/sized_model.h"

namespace tfaot::toolkit::engine {

using Sizes = std::vector<SizePolynomial>;  // of a tensor

bool are_fixed(const Sizes& sizes);

// Of the parts of a tuple, or of the one tensor.
absl::Span<const xla::Shape> part_shapes(const HloInstruction& one);

class FittedModule {
 public:
  // They must outlive it.
  FittedModule(const std::vector<SizeSample>& samples, const Dimensions& largest,
               const SizedModelOptions& options)
      : samples_(samples), largest_(largest), options_(options), fits_(options.bits) {}

  // REQUIRES: called once, before all below. Instructions are those of the first sample.
  Status read();
  const std::vector<SizeSample>& samples() const { return samples_; }
  const Dimensions& largest() const { return largest_; }
  const SizedModelOptions& options() const { return options_; }
  xla::HloModule& first_module() const { return *first_; }
  const HloInstruction& at_sample(const HloInstruction& one, std::size_t sample) const;
  SizeFits& fits() { return fits_; }

  // "node 'a' calls a function of its own, which cannot follow a free size"
  Error no_free_size(const HloInstruction& one, const std::string& why) const;
  // Of a number that follows no polynomial; with one value a sample.
  Error no_rule(const HloInstruction& one, const std::vector<double>& values) const;
  Result<SizePolynomial> number_of(
      const HloInstruction& one, const std::function<std::int64_t(const HloInstruction&)>& number);
  // `number`: the i-th of a sample.
  Result<Sizes> numbers_of(const HloInstruction& one, std::int64_t count,
                           const std::function<std::int64_t(const HloInstruction&, int)>& number);
  Result<Sizes> sizes_of(const HloInstruction& one);
  Result<Sizes> sizes_of(const HloInstruction& one, std::size_t part);
  std::int64_t most(const SizePolynomial& number, const Dimensions& largest) const;
  bool is_fixed(const HloInstruction& one);
  bool is_fixed_value(const HloInstruction& one);
  bool has_fixed_operands(const HloInstruction& one);
  bool is_same_at_all(const HloInstruction& one) const;

 private:
  bool calls_the_same(const HloInstruction& one) const;
  bool has_same_numbers(const HloInstruction& one) const;

  const std::vector<SizeSample>& samples_;
  const Dimensions& largest_;
  const SizedModelOptions& options_;
  std::unique_ptr<xla::HloModule> first_;                // that of the first sample, to change
  std::map<const HloInstruction*, std::size_t> places_;  // in their orders, of the first sample's
  SizeFits fits_;
  std::map<const HloInstruction*, Sizes> sizes_;
  std::map<const HloInstruction*, bool> fixed_;
};

}  // namespace tfaot::toolkit::engine
