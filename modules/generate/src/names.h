// SPDX-License-Identifier: Apache-2.0
// The names that several generated files share. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/tool_names.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

struct PackageNames {
  std::string tool;             // "tfaot-model-test"
  std::string cpp_class;        // "tfaot_model::test"
  std::string base;             // "TFAOT_MODEL_TEST_BASE", the scram variable of the package's root
  std::string made_by;          // the first line of every text file
  std::string toolkit_version;  // of tfaot
  ModelRecord record;           // empty in the headers of packages without one
  std::vector<std::string> objects;  // file names in lib/, in link order
};

PackageNames package_names(const CompiledModel& compiled, const Manifest& manifest);

// The first line of a text file of the package.
std::string made_by_line(const std::string& model_name, const std::string& version);
// "kBs4_x86_64_v3": what a call costs, in NAME_costs.h.
std::string cost_constant(std::int64_t batch_size, const std::string& cpu_level);
// "1, 2, 4"
std::string list_of(const std::vector<std::int64_t>& numbers);

}  // namespace tfaot::toolkit
