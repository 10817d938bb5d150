// SPDX-License-Identifier: Apache-2.0
// The form that a model's module has in batches of any size. XLA's simplifier drops a batch of one
// row, and one of four rows may look like four heads: a row would get other operations there, and
// so other bits. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "compiler/hlo/lowering.h"
#include "compiler/hlo/passes.h"
#include "compiler/sizes/sampled_numbers.h"

namespace tfaot::toolkit::engine {

// REQUIRES: no row depends on another. A mean over the batch may be another function at each size.
class BatchForm {
 public:
  // From the model at two batch sizes of which no other dimension is a multiple, and at their
  // product. Null: it has one batch size. `lowered`: the model at any. `lowering` must outlive it.
  static std::unique_ptr<BatchForm> find(const Lowering& lowering, const LoweredModel& lowered,
                                         const Choices& choices, WeightStore& weights);

  // The module of so many rows, with settled layouts. Error: the form says none, or there is none
  // in common.
  Result<std::unique_ptr<xla::HloModule>> at(std::int64_t rows);
  bool is_form_of(const ReadModule& module) const;

  // The module of two rows with calls of kernels. Where there is no form in common, that of the
  // model itself.
  Result<std::unique_ptr<xla::HloModule>> two_rows(const PassContext& context);

 private:
  explicit BatchForm(const Lowering& lowering) : lowering_(lowering) {}

  const Lowering& lowering_;
  std::optional<SampledNumbers> numbers_;
};

}  // namespace tfaot::toolkit::engine
