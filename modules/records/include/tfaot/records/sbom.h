// SPDX-License-Identifier: Apache-2.0
// A package's sbom.cdx.json: its parts, their licences and how they were made, as CycloneDX 1.5. Of
// what the manifest says alone: no date, no random number. Pure functions.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

inline constexpr std::string_view kSbomName = "sbom.cdx.json";

// Whose code libtfaot_runtime.a holds, as modules/runtime/NOTICE says.
struct RuntimePart {
  std::string_view name;
  std::string_view version;  // empty: not known
  std::string_view license;  // by SPDX
  std::string_view url;
};
inline constexpr std::array kRuntimeParts = {
    RuntimePart{"TensorFlow", "2.18.1", "Apache-2.0", "https://github.com/tensorflow/tensorflow"},
    RuntimePart{"Abseil", "", "Apache-2.0", "https://github.com/abseil/abseil-cpp"},
    RuntimePart{"ml_dtypes", "", "Apache-2.0", "https://github.com/jax-ml/ml_dtypes"},
    RuntimePart{"Eigen", "", "MPL-2.0", "https://gitlab.com/libeigen/eigen"},
    RuntimePart{"ducc0", "", "BSD-3-Clause", "https://gitlab.mpcdf.mpg.de/mtr/ducc"}};

// `manifest`: with all files but this one.
std::string sbom_to_json(const Manifest& manifest);

}  // namespace tfaot::toolkit
