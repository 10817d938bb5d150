// SPDX-License-Identifier: Apache-2.0
// The instructions of a module whose value is known as soon as the weights are: they depend only on
// weights and constants, also through loops that only pass weights on. Values that are broadcast
// along a dimension that no weight has are excluded: their size would follow the batch, and
// broadcasting again costs less than storing. A snapshot, without instructions that are added
// later. Used by one thread.
#pragma once

#include <map>
#include <optional>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

class WeightValues {
 public:
  // Parameters of the entry computation from `first_weight` on are the weights.
  WeightValues(const xla::HloModule& module, std::int64_t first_weight);

  // True if the value can be computed ahead and stored.
  bool is_known(const HloInstruction* instruction) const;
  // True if it depends on weights and constants alone, also where its size follows the batch.
  bool is_of_weights(const HloInstruction* instruction) const {
    return values_.contains(instruction);
  }
  // True if it is known and depends on at least one weight.
  bool is_weight(const HloInstruction* instruction) const;

 private:
  struct Value {
    bool has_weight = false;
    bool is_spread = false;  // broadcasts alone made it as large as it is
  };
  using Elements = std::map<std::int64_t, Value>;  // of a loop's state

  void visit(const xla::HloComputation& computation, const Elements& elements);
  void visit_loop(const HloInstruction& loop);
  std::optional<Value> value_of(const HloInstruction& instruction, const Elements& elements) const;
  std::optional<bool> is_spread(const HloInstruction& instruction) const;

  const xla::HloComputation* entry_;
  std::int64_t first_weight_;
  std::map<const HloInstruction*, Value> values_;
};

}  // namespace tfaot::toolkit::engine
