// SPDX-License-Identifier: Apache-2.0
// Which instructions of a module have a value that is known once the weights are: they depend on
// weights and constants alone, also through the loops that only hand weights on. What was spread
// out by a broadcast along a dimension that no weight has does not count: its size would follow
// the batch, and it costs less to spread again than to store. A snapshot: instructions made later
// are unknown to it. Used by one thread.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

class WeightValues {
 public:
  // Parameters of the entry computation from `first_weight` on are the weights.
  WeightValues(const xla::HloModule& module, std::int64_t first_weight);

  // The value can be computed ahead and stored.
  bool is_known(const xla::HloInstruction* instruction) const;
  // It is known and depends on at least one weight.
  bool is_weight(const xla::HloInstruction* instruction) const;

 private:
  struct Value {
    bool has_weight = false;
    std::vector<bool> spread;  // by dimension: of size > 1, and only broadcasts made it so
  };
  using Elements = std::map<std::int64_t, Value>;  // of a loop's state

  void visit(const xla::HloComputation& computation, const Elements& elements);
  void visit_loop(const xla::HloInstruction& loop);
  std::optional<Value> value_of(const xla::HloInstruction& instruction,
                                const Elements& elements) const;
  std::optional<std::vector<bool>> spread_of(const xla::HloInstruction& instruction) const;
  bool spread(const xla::HloInstruction& operand, std::int64_t dimension) const;

  const xla::HloComputation* entry_;
  std::int64_t first_weight_;
  std::map<const xla::HloInstruction*, Value> values_;
};

}  // namespace tfaot::toolkit::engine
