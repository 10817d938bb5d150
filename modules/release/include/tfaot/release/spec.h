// SPDX-License-Identifier: Apache-2.0
// The text of spec files, of the file they all include, and of the list of models. It comes from
// templates/ (compiled into the library). Same input, same bytes. Pure functions, safe from many
// threads.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/release/release_types.h"

namespace tfaot::toolkit {

inline constexpr const char* kCompileFile = "tfaot-compile.file";
inline constexpr const char* kModelsFile = "tfaot-models.file";

// The model's description may be any text: it is written so that it cannot end a section or start
// an rpm macro. Names and paths that rpm or its shell would split are an Error.
Result<std::string> spec_text(const SpecRecord& record, SpecFlavour flavour);
std::string compile_file_text(SpecFlavour flavour);

// A model's version in RPM's form: "1.0.0-rc1" becomes "1.0.0~rc1", which RPM also sorts before
// 1.0.0.
std::string rpm_version(const std::string& version);

// Adds the model to the list of models, one "Requires: TOOL" each. Other lines stay where they are.
// The models between two of them are sorted, and a new one goes into the last such group.
// Idempotent.
std::string with_model(const std::string& list, const std::string& tool_name);
std::string without_model(const std::string& list, const std::string& tool_name);

}  // namespace tfaot::toolkit
