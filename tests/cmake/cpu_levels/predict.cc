// SPDX-License-Identifier: Apache-2.0
// predict: two events of examples/minimal at the level the runtime chooses. predict LEVEL: the same
// with the code of that level, whatever the CPU has: the runtime assumes that all features are
// there.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tfaot-model-minimal/model.h"

namespace {

// From reference.json, its case of two rows.
const std::vector<float> kInput = {1.921875f, -1.6875f, -0.859375f, -0.390625f,
                                   -1.09375f, 0.40625f, 1.578125f,  -1.421875f};

tfaot::CpuChoice pretend_to_have(const std::string& level) {
  std::vector<std::string> features;
  const tfaot::Program& program = tfaot_model::minimal::description().programs[0];
  for (std::size_t i = 0; i < program.code_count; ++i) {
    std::istringstream needed(program.codes[i].cpu_features);
    for (std::string feature; needed >> feature;) features.push_back(feature);
  }
  return tfaot::CpuChoice::of_features(features).at_level(level);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const tfaot::CpuChoice cpu = argc > 1 ? pretend_to_have(argv[1]) : tfaot::this_cpu();
    tfaot::native::Model<tfaot_model::minimal> model(cpu);
    std::cout << "level: " << model.cpu_level() << std::endl;
    std::vector<float> output(4);
    model.run(2, tfaot::inputs(kInput), tfaot::outputs(output));
    std::cout.precision(9);
    std::cout << "model y:";
    for (const float value : output) std::cout << ' ' << value;
    std::cout << '\n';
    return 0;
  } catch (const tfaot::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
