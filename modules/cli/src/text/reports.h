// SPDX-License-Identifier: Apache-2.0
// The reports of verbs about what they did. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tfaot/records/manifest.h"
#include "tfaot/workflow/convert_area.h"
#include "tfaot/workflow/install_archives.h"
#include "tfaot/workflow/model_tree.h"
#include "tfaot/workflow/tuned_package.h"

namespace tfaot::toolkit {

// The JSON of what a verb made: `path`, and which model it is.
nlohmann::ordered_json made_json(const std::string& kind, const Path& path,
                                 const Manifest& manifest);

// `tfaot compile`, for a tree in `output`.
std::string compiled_text(const ModelTree& made, const Path& output);
nlohmann::ordered_json compiled_json(const ModelTree& made, const Path& output);

// `tfaot compile --dev`: the way from the package tree to a plugin in scram.
struct NextSteps {
  std::string model_name;
  std::string cpp_class;  // with its namespace
  std::string tool_name;
  std::string tool_file;  // as the user should write it
  std::string runtime_tool_file;
  bool uses_cmssw = false;   // PhysicsTools/TensorFlowAOT
  bool is_in_cmssw = false;  // the tree is below CMSSW_BASE
  std::vector<std::int64_t> batch_sizes;
};

std::string next_steps_text(const NextSteps& steps);

// `tfaot convert-area`.
std::string converted_text(const ConvertedPackage& made, const ConvertRequest& request);
nlohmann::ordered_json converted_json(const ConvertedPackage& made, const ConvertRequest& request);

// `tfaot install`, for one archive.
std::string installed_text(const InstalledArchive& installed, const Path& area);
nlohmann::ordered_json installed_json(const InstalledArchive& installed);

// `tfaot tune`: the costs, and the plan for some numbers of rows. REQUIRES:
// manifest.tuning.
std::string tuning_text(const Manifest& manifest);
nlohmann::ordered_json tuning_json(const Manifest& manifest);

// `tfaot tune --suggest`.
std::string suggestion_text(const Suggestion& suggestion);
nlohmann::ordered_json suggestion_json(const Suggestion& suggestion);

}  // namespace tfaot::toolkit
