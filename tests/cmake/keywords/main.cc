// SPDX-License-Identifier: Apache-2.0
// Prints what is compiled into MODEL and a prediction of it. With COUPLED_ROWS, also what two rows
// come to.
#include <array>
#include <iostream>

#include "tfaot-model-minimal/model.h"

int main() {
  const std::array<float, 4> x = {0.09375f, 1.5625f, 1.984375f, 0.234375f};
  std::array<float, 2> y{};
  tfaot::native::Model<MODEL> model;
  model.run(1, tfaot::inputs(x), tfaot::outputs(y));
#ifdef COUPLED_ROWS
  std::array<float, 8> two_x{};
  std::array<float, 4> two_y{};
  try {
    model.run(2, tfaot::inputs(two_x), tfaot::outputs(two_y));
  } catch (const tfaot::Error& error) {
    std::cout << error.what() << '\n';
  }
#endif
  std::cout.precision(9);
  std::cout << "batch sizes:";
  for (const auto size : model.batch_sizes()) std::cout << ' ' << size;
  std::cout << "\ncpu level: " << model.cpu_level() << "\nmodel y: " << y[0] << ' ' << y[1] << '\n';
}
