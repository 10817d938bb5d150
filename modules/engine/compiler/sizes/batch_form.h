// SPDX-License-Identifier: Apache-2.0
// The form that a model's module has in batches of any size. XLA's simplifier drops a batch of one
// row, and one of four rows may look like four heads: a row would get other operations there, and
// so other bits. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "compiler/hlo/lowering.h"
#include "compiler/hlo/passes.h"
#include "compiler/sizes/sampled_numbers.h"

namespace tfaot::toolkit::engine {

// REQUIRES: no row depends on another. A mean over the batch may be another function at each size.
// Looks for the form when it is first asked.
class BatchForm {
 public:
  // The model at so many rows.
  using Lower = std::function<Result<LoweredModel>(std::int64_t rows)>;

  // From the model at two batch sizes of which no other dimension is a multiple, and at their
  // product. `lowered`: the model at any. `like`: of the model at other sizes of its free
  // dimensions, or null. Where a module has that form, one batch size tells its numbers.
  BatchForm(Lower lower, const LoweredModel& lowered, const Choices& choices, WeightStore& weights,
            std::shared_ptr<BatchForm> like = nullptr);
  // Null: it has one batch size. `lowering` must outlive it.
  static std::unique_ptr<BatchForm> find(const Lowering& lowering, const LoweredModel& lowered,
                                         const Choices& choices, WeightStore& weights);

  // The module of so many rows, with settled layouts. Error: the form says none, or there is none
  // in common.
  Result<std::unique_ptr<xla::HloModule>> at(std::int64_t rows);
  bool is_form_of(const ReadModule& module);

  // The module of two rows with calls of kernels. Where there is no form in common, that of the
  // model itself.
  Result<std::unique_ptr<xla::HloModule>> two_rows(const PassContext& context);

 private:
  // Null: there is none.
  SampledNumbers* numbers();
  std::optional<SampledNumbers> common_numbers() const;
  // The module of so many rows, before it takes the form of batches.
  Result<SharedModule> settled(std::int64_t rows) const;

  Lower lower_;
  std::int64_t small_, large_;  // batch sizes that tell
  Choices choices_;
  WeightStore& weights_;
  std::shared_ptr<BatchForm> like_;
  bool is_known_ = false;
  std::optional<SampledNumbers> numbers_;
};

}  // namespace tfaot::toolkit::engine
