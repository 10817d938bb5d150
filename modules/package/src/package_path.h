// SPDX-License-Identifier: Apache-2.0
// Which paths a package may hold. Pure function, safe from many threads.
#pragma once

#include <string_view>

namespace tfaot::toolkit {

inline constexpr std::string_view kManifestName = "manifest.json";

// Relative, '/' between parts, no part empty, "." or "..", printable ASCII without '\': the same
// file in every archive format, locale and file system, and never outside the package's folder.
bool is_package_path(std::string_view path);

}  // namespace tfaot::toolkit
