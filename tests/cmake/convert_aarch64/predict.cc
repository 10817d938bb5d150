// SPDX-License-Identifier: Apache-2.0
// Predicts the batches of the file given as argument, and prints them.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include "tfaot-model-aarch64-graph/model.h"

namespace {

template <class Values>
void print(std::size_t rows, const char* name, const Values& values) {
  std::cout << "rows_" << rows << ' ' << name << ':';
  for (const auto value : values) std::cout << ' ' << value;
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::cout.precision(9);
  std::ifstream in(argv[1]);
  tfaot::native::Model<tfaot_model::aarch64_graph> model;
  for (std::size_t rows = 0; in >> rows;) {
    const auto flags = std::make_unique<bool[]>(rows);
    std::vector<float> x(rows * 4);
    for (std::size_t i = 0; i < rows; ++i) in >> flags[i];
    for (float& value : x) in >> value;
    std::vector<float> scores(rows * 2);
    std::vector<std::int64_t> classes(rows);
    model.run(rows, tfaot::inputs(x, tfaot::Span<const bool>(flags.get(), rows)),
              tfaot::outputs(scores, classes));
    print(rows, "Sigmoid", scores);
    print(rows, "ArgMax", classes);
  }
  return 0;
}
