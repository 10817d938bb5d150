// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/strategies.h"

#include <algorithm>

namespace tfaot::toolkit {

std::vector<std::size_t> composed(ComposeStrategy strategy, const std::vector<std::size_t>& sizes,
                                  std::size_t rows) {
  std::vector<std::size_t> calls;
  while (rows > 0) {
    // The smallest size that holds the rest, and the largest that the rest fills.
    const auto above = std::lower_bound(sizes.begin(), sizes.end(), rows);
    const auto filled = std::upper_bound(sizes.begin(), sizes.end(), rows);
    std::size_t next = 0;
    if (strategy == ComposeStrategy::kPadding) {
      next = above == sizes.end() ? sizes.back() : *above;
    } else {
      next = filled == sizes.begin() ? sizes.front() : *std::prev(filled);
    }
    calls.push_back(next);
    rows -= std::min(rows, next);
  }
  return calls;
}

std::string rule_text(std::size_t rows, const std::vector<std::size_t>& calls) {
  std::string text = std::to_string(rows);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    text += (i == 0 ? ":" : ",") + std::to_string(calls[i]);
  }
  return text;
}

}  // namespace tfaot::toolkit
