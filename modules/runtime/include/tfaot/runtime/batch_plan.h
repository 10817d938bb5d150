// SPDX-License-Identifier: Apache-2.0
// The plan of a batch. Includes no other header of the runtime, because the tool plans with it too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Splits any number of rows into chunks of compiled sizes at the lowest total cost. Only the last
/// chunk may be larger than the rows that are left; it is then padded. Immutable; safe from many
/// threads.
class BatchPlan {
 public:
  /// Uses default costs: a call of n rows costs n + 1, because in small networks a call costs about
  /// as much as one row. So larger sizes come first, and padding is used if it saves calls: {1,
  /// 256} runs 255 rows in one call. REQUIRES: ascending, positive sizes. Throws Error (EmptySizes)
  /// if there are none.
  explicit BatchPlan(std::vector<std::size_t> sizes);
  /// `costs[i]` is the cost of one call of `sizes[i]` rows, in any unit; whole numbers, so that
  /// sums are exact. `live[i]` (none: 0) is how many thousandths of the cost are proportional to
  /// the rows that count. If the last chunk is padded, this part costs only what the real rows
  /// cost, interpolated between the compiled sizes.
  BatchPlan(std::vector<std::size_t> sizes, std::vector<std::uint64_t> costs,
            const std::vector<std::uint32_t>& live = {});

  /// Sizes of a model whose rows depend on each other: only these run, each in one call. REQUIRES
  /// and throws as above.
  static BatchPlan of_coupled_rows(std::vector<std::size_t> sizes);

  /// The cost of a call of `sizes[i]` rows if only the first `rows` count, in the unit of `costs`.
  static std::uint64_t call_cost(const std::vector<std::size_t>& sizes,
                                 const std::vector<std::uint64_t>& costs,
                                 const std::vector<std::uint32_t>& live, std::size_t i,
                                 std::size_t rows);

  /// The compiled sizes, ascending.
  const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }
  /// False: only sizes() can be run.
  bool composes() const noexcept { return composes_; }
  /// Throws Error (UnknownBatchSize) unless this number of rows can be run; `model` is for the
  /// message.
  void check(std::size_t rows, const char* model) const;

  /// Index into sizes() of the next chunk. REQUIRES: rest > 0, and check() passes.
  std::size_t next(std::size_t rest) const noexcept {
    return rest < next_.size() ? next_[rest] : steady_;
  }

 private:
  std::vector<std::size_t> sizes_;
  // The size with the lowest cost per row. Beyond the end of the table, taking it first is always
  // right (see batch_plan.cc).
  std::size_t steady_ = 0;
  std::vector<std::uint16_t> next_;  // by rest
  bool composes_ = true;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
