// SPDX-License-Identifier: Apache-2.0
// The form that a model's module has in batches of any size. XLA's simplifier drops a batch of one
// row, and one of four rows may look like four heads: a row would get other operations there, and
// so other bits. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "compiler/hlo/lowering.h"
#include "compiler/hlo/passes.h"
#include "compiler/sizes/sampled_numbers.h"

namespace tfaot::toolkit::engine {

class BatchForm {
 public:
  // From the model at two batch sizes of which no other dimension is a multiple, and at their
  // product. Null: it has one batch size, or no form in common. `lowered`: the model at any.
  static std::unique_ptr<BatchForm> find(const Lowering& lowering, const LoweredModel& lowered,
                                         const Choices& choices, WeightStore& weights);

  // The module of so many rows, with settled layouts. Error: the form says none.
  Result<std::unique_ptr<xla::HloModule>> at(std::int64_t rows) {
    return numbers_.module_at({rows});
  }
  // The same with calls of kernels.
  Result<std::unique_ptr<xla::HloModule>> with_kernels(std::int64_t rows,
                                                       const PassContext& context);
  bool is_form_of(const ReadModule& module) const {
    std::string ignored;
    return have_same_form(numbers_.first(), module, ignored);
  }

 private:
  SampledNumbers numbers_;
};

}  // namespace tfaot::toolkit::engine
