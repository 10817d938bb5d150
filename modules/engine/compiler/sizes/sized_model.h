// SPDX-License-Identifier: Apache-2.0
// A model for all sizes of its free dimensions, from the same model optimised at some fixed sizes.
// Where these have the same instructions, each of their numbers (dimensions, words of kernel calls,
// constants) is a polynomial of the sizes. Tensors lie in memory as they do at the actual sizes, so
// results are those of the model compiled for these. Used by one thread.
#pragma once

#include <memory>
#include <vector>

#include "compiler/code/optimize.h"
#include "compiler/sizes/polynomial.h"

namespace tfaot::toolkit::engine {

struct SizeSample {
  Dimensions sizes;  // of each free dimension
  OptimizedModel model;
};

// True if the two have the same instructions, apart from their numbers. `why_not` says what
// differs.
bool have_same_form(const xla::HloModule& a, const xla::HloModule& b, std::string& why_not);

// Tells whether a module of other sizes is the one that the numbers of some samples say.
class SampledNumbers {
 public:
  // REQUIRES: of the same form as the modules before.
  void add(const Dimensions& sizes, std::unique_ptr<xla::HloModule> module);
  bool empty() const { return modules_.empty(); }
  // REQUIRES: there is one.
  const xla::HloModule& first() const { return *modules_.front(); }
  struct Difference {
    std::string what{};    // empty: nothing
    bool is_form = false;  // other operations, so that no numbers were compared
  };
  // From the module at these sizes. Where the samples follow no rule, nothing is compared.
  Difference difference(const Dimensions& sizes, const xla::HloModule& module);

 private:
  struct OfOne {
    std::vector<std::int64_t> whole;                 // dimensions, bounds, paddings, windows
    std::shared_ptr<const xla::Literal> constant{};  // the value, if it is known and not large
    std::string name;
  };
  static std::vector<OfOne> numbers_of(const xla::HloModule& module);
  bool is_predicted(const std::vector<std::int64_t>& values, const Dimensions& sizes,
                    std::int64_t value);
  bool has_elements(std::size_t place, const Dimensions& sizes, const xla::Literal& constant);

  std::vector<std::unique_ptr<xla::HloModule>> modules_;
  std::vector<std::vector<OfOne>> samples_;
  SizeFits fits_;
};

struct SizedModelOptions {
  const WeightStore& weights;
  Traces traces = Traces::kRemoved;
};
// The last parameter of the model is a vector of the sizes. Its inputs and outputs are vectors of
// the elements at the largest sizes, and kElementsBeyond more. `samples`: of the same form, at
// least points_to_fit(); the first has the largest size of each dimension. Error: what cannot have
// a free size, by its node.
Result<OptimizedModel> with_free_sizes(const std::vector<SizeSample>& samples,
                                       const Dimensions& largest, const SizedModelOptions& options);

}  // namespace tfaot::toolkit::engine
