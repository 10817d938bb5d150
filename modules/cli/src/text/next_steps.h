// SPDX-License-Identifier: Apache-2.0
// What `tfaot compile --dev` says at its end: the way from the package tree to a plugin in scram.
// Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit {

struct NextSteps {
  std::string model_name;
  std::string cpp_class;  // with its namespace
  std::string tool_name;
  std::string tool_file;  // as the user should write it
  std::string runtime_tool_file;
  bool uses_cmssw = false;   // PhysicsTools/TensorFlowAOT
  bool is_in_cmssw = false;  // the tree lies below CMSSW_BASE
  std::vector<std::int64_t> batch_sizes;
};

std::string next_steps_text(const NextSteps& steps);

}  // namespace tfaot::toolkit
