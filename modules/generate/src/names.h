// SPDX-License-Identifier: Apache-2.0
// The names that several generated files share. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/tool_names.h"
#include "tfaot/compile/compile_types.h"
#include "tfaot/config/config_types.h"
#include "tfaot/generate/generate.h"

namespace tfaot::toolkit {

struct PackageNames {
  std::string tool;       // "tfaot-model-test"
  std::string cpp_class;  // "tfaot_model::test"
  std::string base;       // "TFAOT_MODEL_TEST_BASE", the scram variable of the package's root
  std::string made_by;    // the first line of every text file
  std::vector<std::string> objects;  // file names in lib/, in link order
};

PackageNames package_names(const ModelSpec& spec, const CompiledModel& compiled,
                           const GenerateOptions& options);

// "x86_64" of "x86_64-unknown-linux-gnu".
std::string processor_of(const std::string& target_triple);
// The first line of a text file of the package.
std::string made_by_line(const std::string& model_name, const std::string& version);
// "kBs4_x86_64_v3": what a call costs, in NAME_costs.h.
std::string cost_constant(std::int64_t batch_size, const std::string& cpu_level);
// "1, 2, 4"
std::string list_of(const std::vector<std::int64_t>& numbers);
// Whether a model's tool cannot have this name: the runtime's tool has it, or scram's own.
bool is_reserved_tool_name(const std::string& name);
// What CMake can compare: up to four numbers, "1.0.0".
bool is_dotted_version(const std::string& version);
// True for non-empty [A-Za-z0-9._+-] without a leading '.', '-' or '+': a file name that no shell,
// CMake or scram minds.
bool is_safe_name(const std::string& text);

}  // namespace tfaot::toolkit
