// SPDX-License-Identifier: Apache-2.0
// Stands in for a module of the framework: scores its input.
#include <iostream>

#include "Demo/Tagger/interface/Scorer.h"

extern "C" void produce() {
  demo::Scorer scorer;
  const auto scores = scorer.score(
      {1.921875f, -1.6875f, -0.859375f, -0.390625f, -1.09375f, 0.40625f, 1.578125f, -1.421875f});
  std::cout.precision(9);
  std::cout << "plugin y:";
  for (const float score : scores) std::cout << ' ' << score;
  std::cout << '\n';
}
