// SPDX-License-Identifier: Apache-2.0
// A batch gives the same scores as its rows one by one, and the scores of a row add up to 1.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "Demo/Tagger/interface/Scorer.h"

int main() {
  demo::Scorer scorer;
  std::vector<float> x;
  for (int i = 0; i < 7 * 4; ++i) x.push_back(std::sin(0.7f * static_cast<float>(i)));
  const auto batch = scorer.score(x);
  for (std::size_t row = 0; row < 7; ++row) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(4 * row);
    const auto alone = scorer.score(std::vector<float>(begin, begin + 4));
    const bool same = std::abs(alone[0] - batch[2 * row]) < 1e-6f &&
                      std::abs(alone[1] - batch[2 * row + 1]) < 1e-6f;
    if (!same || std::abs(alone[0] + alone[1] - 1) > 1e-6f) {
      std::cerr << "row " << row << " differs\n";
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
