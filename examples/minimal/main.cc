// SPDX-License-Identifier: Apache-2.0
// Predicts the same three events through both APIs, prints the results and compares them with
// TensorFlow's own.
#include <cmath>
#include <cstddef>
#include <iostream>
#include <tuple>
#include <vector>

#include "tfaot-model-minimal/model.h"

namespace {

constexpr std::size_t kEvents = 3;  // not among the compiled batch sizes: 2 + 1 are run

// From reference.json, row by row.
const std::vector<float> kInput = {0.015625f, 1.59375f,  1.828125f, 1.453125f,
                                   0.796875f, -0.71875f, 0.328125f, -0.734375f,
                                   1.921875f, -0.8125f,  0.5625f,   0.75f};
const std::vector<float> kExpected = {0.9585836f,  0.041416377f, 0.9646631f,
                                      0.03533696f, 0.9804191f,   0.01958093f};

// Contiguous memory in and out; nothing is copied.
std::vector<float> predict_native() {
  tfaot::native::Model<tfaot_model::minimal> model;
  std::vector<float> output(kEvents * 2);
  model.run(kEvents, {.x = kInput}, {.y = output});
  return output;
}

// The calls of CMSSW's PhysicsTools/TensorFlowAOT: a vector for each event.
std::vector<float> predict_compatible() {
  tfaot::Model<tfaot_model::minimal> model;
  tfaot::FloatArrays input;
  for (std::size_t event = 0; event < kEvents; ++event) {
    const float* row = kInput.data() + 4 * event;
    input.emplace_back(row, row + 4);
  }
  tfaot::FloatArrays output;
  std::tie(output) = model.run<tfaot::FloatArrays>(kEvents, input);

  std::vector<float> flat;
  for (const auto& row : output) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

bool report(const char* api, const std::vector<float>& output) {
  std::cout << api << " y:";
  for (const float value : output) std::cout << ' ' << value;
  std::cout << '\n';
  bool equal = output.size() == kExpected.size();
  for (std::size_t i = 0; equal && i < output.size(); ++i) {
    equal = std::abs(output[i] - kExpected[i]) <= 1e-5f;
  }
  if (!equal) std::cerr << api << ": differs from TensorFlow\n";
  return equal;
}

}  // namespace

int main() {
  std::cout.precision(9);
  const bool native = report("native", predict_native());
  const bool compatible = report("compatible", predict_compatible());
  return native && compatible ? 0 : 1;
}
