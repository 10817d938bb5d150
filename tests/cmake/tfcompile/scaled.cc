// SPDX-License-Identifier: Apache-2.0
// A network without a batch: a matrix and a factor in, their product and its sum out.
#include <iostream>
#include <vector>

#include "scaled/header.h"

int main() {
  static_assert(scaled::kBatchSize == 1);
  const std::vector<float> x = {0, 1, 2, 3, 4, 5};
  scaled net;
  net.set_arg0_data(x.data());
  net.arg_factor() = 2;
  if (!net.Run()) return 1;
  std::cout << "y:";
  for (std::size_t i = 0; i < 6; ++i) std::cout << ' ' << net.result0(i / 3, i % 3);
  std::cout << " sum: " << net.result_sum() << '\n';

  const std::vector<float> factor = {3};
  std::vector<float> y(6);
  std::vector<float> sum(1);
  tfaot::native::Model<tfaot_model::scaled> model;
  model.run(1, tfaot::inputs(x, factor), tfaot::outputs(y, sum));
  std::cout << "y:";
  for (const float value : y) std::cout << ' ' << value;
  std::cout << " sum: " << sum[0] << '\n';
}
