// SPDX-License-Identifier: Apache-2.0
// profile.yaml: which models a study measures, and how. Each key is an option of `tfaot profile`
// with the same meaning; what values mean is checked there. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Pairs of an engine and a path, in the file's order.
using NamedPaths = std::vector<std::pair<std::string, Path>>;

struct StudyModel {
  Path package;  // as all paths: absolute
  NamedPaths peers;
};

struct Study {
  Path output;  // the folder of the results
  std::vector<StudyModel> models;
  NamedPaths libraries;
  std::vector<std::int64_t> batch_sizes;
  std::vector<std::string> cpu_levels;
  std::vector<std::string> strategies;
  std::vector<std::string> batch_rules;
  std::string inputs;  // a word, or an absolute path; empty: not given
  std::optional<std::int64_t> rounds;
  std::optional<double> round_ms;
};

// REQUIRES: file is absolute. Error: the first fault in file order; its notes name the others.
Result<Study> load_study(const FileSystem& fs, const Path& file);

}  // namespace tfaot::toolkit
