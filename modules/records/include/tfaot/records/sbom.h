// SPDX-License-Identifier: Apache-2.0
// A package's sbom.cdx.json: its parts, their licences and how they were made, as CycloneDX 1.5. Of
// what the manifest says alone: no date, no random number. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

inline constexpr std::string_view kSbomName = "sbom.cdx.json";

// `manifest`: with all files but this one.
std::string sbom_to_json(const Manifest& manifest);

}  // namespace tfaot::toolkit
