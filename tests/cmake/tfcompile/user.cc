// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "mynet/header.h"

void in_library(const float* x, float* y);

int main() {
  constexpr float kX[] = {1.921875f, -1.6875f, -0.859375f, -0.390625f, -1.09375f, 0.40625f};
  std::cout.precision(9);
  float y[4];
  in_library(kX, y);
  std::cout << "library out/y: " << y[0] << ' ' << y[1] << ' ' << y[2] << ' ' << y[3] << '\n';
  tfaot::native::Model<tfaot_model::mynet> model;
  model.run(2, tfaot::inputs(kX), tfaot::outputs(y));
  std::cout << "user out/y: " << y[0] << ' ' << y[1] << ' ' << y[2] << ' ' << y[3] << '\n';
}
