// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "Demo/Tagger/interface/Scorer.h"

int main() {
  demo::Scorer scorer;
  const auto scores = scorer.score({0.015625f, 1.59375f, 1.828125f, 1.453125f, 0.796875f, -0.71875f,
                                    0.328125f, -0.734375f, 1.921875f, -0.8125f, 0.5625f, 0.75f});
  std::cout.precision(9);
  std::cout << "program y:";
  for (const float score : scores) std::cout << ' ' << score;
  std::cout << '\n';
}
