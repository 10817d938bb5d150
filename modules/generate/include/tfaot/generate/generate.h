// SPDX-License-Identifier: Apache-2.0
// Records -> text: C++ headers, scram tool file, CMake package, pkg-config file. The manifest is a
// record too (make_manifest()): the same one is used here and in the package. Text comes from
// templates/ (compiled into the library); pugixml writes XML. Same input, same bytes. Pure
// functions, safe from many threads.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// One generated text file; `path` is relative to the package's root, with '/'.
struct GeneratedFile {
  std::string path;
  std::string text;
};

struct GeneratedFiles {
  std::vector<GeneratedFile> files;  // sorted by path
};

// The user's choices for a package's files.
struct GenerateOptions {
  std::string tool_name = "";             // for make_manifest(); empty: default_tool_name()
  std::string tool_base = "@TOOL_BASE@";  // the scram tool's base folder; may hold $VARIABLES
};

// Whether files with these names can be generated. generate_files() would fail too, but only after
// the model is compiled.
Status check_names(const ModelSpec& spec, const GenerateOptions& options);

// Paths made, with TOOL the tool's name, NAME the model's:
//   include/TOOL/model.h, include/TOOL/NAME_bsN.h, include/TOOL/NAME_costs.h, TOOL.xml,
//   tfaot-runtime.xml, lib/cmake/TOOL/TOOL-config.cmake,
//   lib/cmake/TOOL/TOOL-config-version.cmake, lib/pkgconfig/TOOL.pc
// They refer to objects as lib/<CompiledCode::object>, and to weights as
// lib/<CompiledModel::weights_object>. REQUIRES: the manifest is make_manifest()'s for `spec` and
// `compiled`; its tuning may be set, its files are not used.
Result<GeneratedFiles> generate_files(const ModelSpec& spec, const CompiledModel& compiled,
                                      const Manifest& manifest, const std::string& tool_base);

// Only NAME_costs.h, for a tuned package: nothing else depends on manifest.tuning.
GeneratedFile cost_header(const Manifest& manifest);

// The source of the program that measures a package; not part of the package
// (templates/measure.cc.mustache).
std::string measuring_program(const Manifest& manifest);

}  // namespace tfaot::toolkit
