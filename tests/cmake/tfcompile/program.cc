// SPDX-License-Identifier: Apache-2.0
// The calls of TensorFlow's tfcompile, then ours, on rows of three numbers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "mynet/header.h"

void other(const float* x, float* y);

namespace {

// Inputs of the reference's cases of two and three rows.
constexpr float kTwo[] = {1.921875f, -1.6875f, -0.859375f, -0.390625f, -1.09375f, 0.40625f};
constexpr float kThree[] = {0.015625f, 1.59375f,  1.828125f,  1.453125f, 0.796875f,
                            -0.71875f, 0.328125f, -0.734375f, 1.921875f};

void expect(bool met, const char* what) {
  if (met) return;
  std::cerr << "not so: " << what << '\n';
  std::exit(1);
}

void print(const char* label, const float* y, std::size_t count) {
  std::cout << label << " out/y:";
  for (std::size_t i = 0; i < count; ++i) std::cout << ' ' << y[i];
  std::cout << '\n';
}

void two_rows() {
  mynet net;
  expect(net.arg0_data() == net.args()[0], "arg0_data() == args()[0]");
  expect(net.arg0_data() == net.arg_x_data(), "an accessor by name");
  expect(mynet::arg0_count() == 6 && mynet::arg0_size() == 24, "counts of the argument");
  expect(mynet::result0_count() == 4 && mynet::kBatchSize == 2, "counts of the result");
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t i = 0; i < 3; ++i) net.arg0(row, i) = kTwo[3 * row + i];
  }
  expect(net.Run() && net.error_msg().empty(), "Run()");
  expect(net.result0_data() == net.results()[0], "result0_data() == results()[0]");
  const mynet& same = net;
  expect(same.arg0(1, 2) == kTwo[5] && same.result0(1, 1) == same.result0_data()[3],
         "const accessors");
  print("tfcompile", net.result0_data(), 4);
}

// Memory of the caller, aligned to no more than a float, and none at first.
void memory_of_the_caller() {
  mynet net(mynet::AllocMode::RESULTS_PROFILES_AND_TEMPS_ONLY);
  expect(!net.Run(), "Run() without an argument");
  expect(net.error_msg() == "argument 0 of 'mynet' has no memory: call set_arg0_data() first",
         "the reason");
  float memory[8];
  float* x = reinterpret_cast<std::uintptr_t>(memory) % 16 == 0 ? memory + 1 : memory;
  std::copy(kTwo, kTwo + 6, x);
  net.set_arg0_data(x);
  expect(net.arg0_data() == x && net.Run() && net.error_msg().empty(), "Run() with an argument");
  print("caller", net.result0_data(), 4);
}

}  // namespace

int main() {
  std::cout.precision(9);
  two_rows();
  memory_of_the_caller();

  mynet_bs1 one;
  std::copy(kThree, kThree + 3, one.arg0_data());
  expect(one.Run(), "Run() of one row");
  std::cout << "one row: " << one.result0(0, 0) << ' ' << one.result0(0, 1) << '\n';

  float y[6];
  tfaot::native::Model<tfaot_model::mynet> model;
  std::cout << "batch sizes:";
  for (const auto size : model.batch_sizes()) std::cout << ' ' << size;
  std::cout << '\n';
  model.run(3, tfaot::inputs(kThree), tfaot::outputs(y));
  print("native", y, 6);

  tfaot::Model<tfaot_model::mynet> compatible;
  tfaot::FloatArrays rows;
  for (int row = 0; row < 3; ++row) rows.emplace_back(kThree + 3 * row, kThree + 3 * row + 3);
  const auto [scores] = compatible.run<tfaot::FloatArrays>(3, rows);
  for (std::size_t row = 0; row < 3; ++row)
    std::copy(scores[row].begin(), scores[row].end(), y + 2 * row);
  print("compatible", y, 6);
  other(kThree, y);
  print("other", y, 6);
}
