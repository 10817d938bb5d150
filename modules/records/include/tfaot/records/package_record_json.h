// SPDX-License-Identifier: Apache-2.0
// record.json of a package: beside its manifest all that is needed to generate its files anew, for
// other weights, without the config. Tables of the code as compile hands them on; docs/formats.md.
// Pure functions.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

std::string package_record_to_json(const ModelSpec& spec, const CompiledModel& compiled);

// Whether the text is the record of any package.
bool is_package_record(const std::string& text);

// What a package was made from. The spec has neither config file nor source.
struct PackagedModel {
  ModelSpec spec;
  CompiledModel compiled;
};
// `where` names the file in errors. Refuses what generate_files() could not work with, and what is
// of other code than the manifest says.
Result<PackagedModel> package_record_from_json(const Manifest& manifest, const std::string& text,
                                               const std::string& where);

}  // namespace tfaot::toolkit
