// SPDX-License-Identifier: Apache-2.0
// How any number of rows is cut into chunks of compiled sizes, at the least sum of costs. Only the
// last chunk may be larger than what is left; it is then padded. Immutable once made; safe from
// many threads. Needs no other header of the runtime, as the tool plans with it, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// How any number of rows is cut into chunks of compiled sizes, at the least sum of costs. Only the
/// last chunk may be larger than what is left; it is then padded. Immutable; safe from many
/// threads.
class BatchPlan {
 public:
  /// Costs where nothing is known: a call of n rows costs n + 1, as a call's own cost is about that
  /// of one row in small networks. So larger sizes go first, and padding wins where it spares
  /// calls: {1, 256} does 255 rows in one call. REQUIRES: ascending, positive sizes. Throws Error
  /// (EmptySizes) when there is none.
  explicit BatchPlan(std::vector<std::size_t> sizes);
  /// `costs[i]` is the cost of one call of `sizes[i]` rows, in any unit. Whole numbers, so that
  /// sums are exact. `live[i]` (none: 0) is how many thousandths of it are in proportion to the
  /// rows that count: when the last chunk is padded, those cost what as many rows would, between
  /// the compiled sizes.
  BatchPlan(std::vector<std::size_t> sizes, std::vector<std::uint64_t> costs,
            const std::vector<std::uint32_t>& live = {});

  /// Sizes of a model whose rows depend on each other: each runs by itself, and nothing else does.
  /// REQUIRES and throws as above.
  static BatchPlan of_coupled_rows(std::vector<std::size_t> sizes);

  /// The compiled sizes, ascending.
  const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }
  /// False: only sizes() run.
  bool composes() const noexcept { return composes_; }
  /// Throws Error (UnknownBatchSize) unless these rows can be run; it calls the model `model`.
  void check(std::size_t rows, const char* model) const;

  /// Index into sizes() of the next chunk. REQUIRES: rest > 0, and check() passes.
  std::size_t next(std::size_t rest) const noexcept {
    return rest < next_.size() ? next_[rest] : steady_;
  }

 private:
  std::vector<std::size_t> sizes_;
  // The size whose rows are cheapest. Where the table ends, taking it first is right for good (see
  // batch_plan.cc).
  std::size_t steady_ = 0;
  std::vector<std::uint16_t> next_;  // by rest
  bool composes_ = true;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
