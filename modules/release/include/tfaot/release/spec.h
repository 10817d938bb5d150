// SPDX-License-Identifier: Apache-2.0
// Text of spec files, of the file they all include, and of the list of models. Text comes from
// templates/ (compiled into the library). Same input, same bytes. Pure functions, safe from many
// threads.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/release/release_types.h"

namespace tfaot::toolkit {

inline constexpr const char* kCompileFile = "tfaot-compile.file";
inline constexpr const char* kModelsFile = "tfaot-models.file";

// The model's words may be any text: it cannot end a section, nor start a macro of rpm. Names and
// paths that rpm or its shell would take apart are an Error.
Result<std::string> spec_text(const SpecRecord& record, SpecFlavour flavour);
std::string compile_file_text(SpecFlavour flavour);

// A model's version as RPM's: "1.0.0-rc1" is "1.0.0~rc1", which comes before 1.0.0 there as well.
std::string rpm_version(const std::string& version);

// The list of models, one "Requires: TOOL" each. Other lines stay where they are; the models
// between two of them are sorted, and a new one goes to the last such group. Twice is as good as
// once.
std::string with_model(const std::string& list, const std::string& tool_name);
std::string without_model(const std::string& list, const std::string& tool_name);

}  // namespace tfaot::toolkit
