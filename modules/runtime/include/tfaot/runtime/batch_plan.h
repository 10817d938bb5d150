// SPDX-License-Identifier: Apache-2.0
// How any number of rows is cut into chunks of compiled sizes, by cost. Only the last chunk may be
// larger than what is left; it is then padded. Immutable once made; safe from many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfaot {
inline namespace v1 {

class BatchPlan {
 public:
  // The default costs: a call of n rows costs n + 1, as a call's own cost is about that of one row
  // in small networks. So larger sizes go first, and padding wins where it spares calls: {1, 256}
  // does 255 rows in one call. REQUIRES: ascending, positive sizes. Throws Error (EmptySizes) when
  // there is none.
  explicit BatchPlan(std::vector<std::size_t> sizes);
  // costs[i] is the cost of one call of sizes[i] rows, in any unit.
  BatchPlan(std::vector<std::size_t> sizes, const std::vector<double>& costs);

  const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }

  // Index into sizes() of the next chunk. REQUIRES: rest > 0.
  std::size_t next(std::size_t rest) const noexcept {
    return rest < next_.size() ? next_[rest] : sizes_.size() - 1;
  }

 private:
  std::vector<std::size_t> sizes_;
  std::vector<std::uint32_t>
      next_;  // by rest, below twice the largest size; beyond that the largest size is taken
};

}  // namespace v1
}  // namespace tfaot
