// SPDX-License-Identifier: Apache-2.0
// Records of the release room: what a spec file says about a model, and what was built from it.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/rpm_record.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// Two dialects of spec files: rpm's own, for plain rpmbuild, and that of CMS's cmsdist, whose build
// tool defines name, version, %{i} and more.
enum class SpecFlavour { kRpm, kCmsdist };
template <>
inline constexpr auto kWords<SpecFlavour> = std::to_array<Word<SpecFlavour>>(
    {{SpecFlavour::kCmsdist, "cmsdist"}, {SpecFlavour::kRpm, "rpm"}});

struct SpecRecord {
  std::string tool_name;  // "tfaot-model-test", the RPM's name
  std::string version;    // of the model
  std::string author;
  std::string description;
  std::string license = "unspecified";
  std::string processor;      // "x86_64"
  std::string source;         // the value of the Source line; empty: none
  std::string source_folder;  // cmsdist: the folder that Source unpacks into
  std::string data_package;   // cmsdist: a package that contains config and model
  std::string config;         // %{aot_config}
  std::string scram_arch{};   // rpm: folder of config/toolbox for the tool file; empty: none
};

struct ReleaseJob {
  SpecRecord spec;
  ReleaseInputs inputs;
};

struct ReleaseResult {
  enum class Kind { kBuilt, kUpToDate, kFailed };
  Kind kind = Kind::kFailed;
  std::string tool_name;
  std::string why;             // reason for building: "new", "the model or its config changed"
  RpmRecord rpm;               // if it succeeded
  std::optional<Error> error;  // if it failed
};

}  // namespace tfaot::toolkit
