// SPDX-License-Identifier: Apache-2.0
// What the templates of a package's C++ headers have in common, in both flavours. Pure functions.
// REQUIRES: check_compiled_model() passed.
#pragma once

#include <string>
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

std::uint64_t row_elements(const TensorSpec& tensor);

// Variables of the usage example, called like the tensors as far as C++ allows: all differ.
struct ExampleVariables {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};
ExampleVariables example_variables(const Signature& signature);

// A list of {"line": ...}.
TemplateData lines_data(const std::vector<std::string>& lines);

// Names, signature, programs and weights; "tables" is the body of the class with the constants.
TemplateObject model_data(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names);

}  // namespace tfaot::toolkit
