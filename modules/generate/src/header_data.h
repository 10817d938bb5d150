// SPDX-License-Identifier: Apache-2.0
// What the templates of a package's C++ headers have in common, in both flavours. Pure functions.
// REQUIRES: check_compiled_model() passed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "names.h"
#include "tfaot/base/render.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// The struct with the tables of a batch size, and its header: program_name(), or
// "test_bs4_tables" where that is another class.
std::string tables_name(const ModelSpec& spec, std::int64_t batch_size);

// Rows of a batch depend on each other, as the config says or the engine found.
bool has_coupled_rows(const ModelSpec& spec, const CompiledModel& compiled);

// Names of the inputs and outputs.
struct TensorNames {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};
// Members of the structs `Inputs` and `Outputs`.
TensorNames tensor_members(const Signature& signature);
// Members of the structs `Sizes` and `Offsets`.
std::vector<std::string> size_members(const std::vector<FreeDimension>& sized);
// Variables of the usage example, called like the members as far as they can be: all differ.
TensorNames example_variables(const Signature& signature);

// "kLiveRows" for the word "live_rows".
std::string enumerator(std::string_view word);

// Names, signature, programs and weights; "tables" is the body of the class with the constants.
TemplateObject model_data(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names);

}  // namespace tfaot::toolkit
