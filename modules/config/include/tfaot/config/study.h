// SPDX-License-Identifier: Apache-2.0
// profile.yaml: which models a study measures, and how. Each key is an option of `tfaot profile`
// with the same meaning. Only reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

struct StudyPeer {
  ProfiledEngine engine = ProfiledEngine::kOnnxRuntime;
  Path model;
  Path library;    // of TensorFlow: empty
  Location where;  // in the study's file
};

struct StudyModel {
  Path package;  // as all paths: absolute
  Location where;
  std::vector<StudyPeer> peers;
};

struct Study {
  Path output;  // the folder of the results
  std::vector<StudyModel> models;
  std::vector<std::int64_t> batch_sizes;
  std::vector<std::string> cpu_levels;
  std::vector<ComposeStrategy> strategies;  // without kRules
  std::vector<std::string> batch_rules;
  std::string inputs;  // a word, or an absolute path; empty: not given
  Location inputs_where;
  std::optional<std::int64_t> rounds;
  std::optional<double> round_ms;
};

// REQUIRES: file is absolute. Error: the first fault in file order; its notes name the others. Also
// if a file of a peer is missing. Packages and inputs are not looked at.
Result<Study> load_study(const FileSystem& fs, const Path& file);

}  // namespace tfaot::toolkit
