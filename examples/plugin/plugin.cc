// SPDX-License-Identifier: Apache-2.0
// A plugin that predicts two events with an installed model.
#include <array>
#include <iostream>

#include "tfaot-model-minimal/model.h"

extern "C" void predict() {
  const std::array<float, 8> x = {1.921875f, -1.6875f, -0.859375f, -0.390625f,
                                  -1.09375f, 0.40625f, 1.578125f,  -1.421875f};
  std::array<float, 4> y{};
  tfaot::native::Model<tfaot_model::minimal> model;
  model.run(2, {.x = x}, {.y = y});

  std::cout.precision(9);
  std::cout << "plugin y:";
  for (const float value : y) std::cout << ' ' << value;
  std::cout << '\n';
}
