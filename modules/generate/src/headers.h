// SPDX-License-Identifier: Apache-2.0
// The C++ headers of a package. Pure functions. REQUIRES: check_compiled_model() passed.
#pragma once

#include <string>
#include <vector>

#include "names.h"
#include "tfaot/generate/generate.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// The inline namespace of all headers below, until their text is known: model_headers().
inline constexpr const char* kUnnamedBuild = "build_0000000000000000";

// All of them except NAME_costs.h, the only one that changes when a package is tuned.
struct HeaderFiles {
  std::vector<GeneratedFile> files;  // paths below the package's root
  // The inline namespace of the model's classes: "build_" and a hash of the headers. Different
  // headers get different names, so two libraries in one process never share a class by mistake.
  std::string build;
};
HeaderFiles model_headers(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names);

// NAME_bsN.h (flavour cmssw: NAME_bsN_tables.h): the tables of one batch size, from the codes of
// `compiled` with this batch size.
std::string program_header(const ModelSpec& spec, const CompiledModel& compiled,
                           const PackageNames& names, std::int64_t batch_size);

// model.h of the self-contained flavour: what users include.
std::string model_header(const ModelSpec& spec, const CompiledModel& compiled,
                         const PackageNames& names);

// The flavour cmssw: NAME_bsN.h, a class of TensorFlow's XlaCompiledCpuFunction; model.h; and
// NAME_tables.h, the description of the model.
std::string xla_program_header(const ModelSpec& spec, const CompiledModel& compiled,
                               const PackageNames& names, std::int64_t batch_size);
std::string xla_model_header(const ModelSpec& spec, const CompiledModel& compiled,
                             const PackageNames& names);
std::string tables_header(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names);

}  // namespace tfaot::toolkit
