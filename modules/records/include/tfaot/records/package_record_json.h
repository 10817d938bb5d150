// SPDX-License-Identifier: Apache-2.0
// record.json of a package: together with the manifest, everything that is needed to generate its
// files again, for other weights, without the config. It holds the tables of the code as the
// compile room hands them on; see docs/formats.md. Pure functions.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

std::string package_record_to_json(const ModelSpec& spec, const CompiledModel& compiled);

// True if the text is a package record, of any package.
bool is_package_record(const std::string& text);

// What a package was made from. The spec has neither a config file nor a source.
struct PackagedModel {
  ModelSpec spec;
  CompiledModel compiled;
};
// `where` names the file in errors. Refuses what generate_files() could not use, and records whose
// code differs from what the manifest says.
Result<PackagedModel> package_record_from_json(const Manifest& manifest, const std::string& text,
                                               const std::string& where);

// The tables alone, as `tfaot profile` hands them to the program that measures.
std::string compiled_model_to_json(const CompiledModel& compiled);
Result<CompiledModel> compiled_model_from_json(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
