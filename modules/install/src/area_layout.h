// SPDX-License-Identifier: Apache-2.0
// Where things lie in a release area (install_types.h has the picture), and whether they may lie
// there. Pure functions, but for check_inside_area(), which looks at the disk.
#pragma once

#include <string>
#include <string_view>

#include "tfaot/install/install.h"

namespace tfaot {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kCurrentName = "current";
inline constexpr std::string_view kStagingPrefix = "staging-";

Path private_folder(const Path& area);  // AREA/.tfaot
// The tool file with the final base, relative to a version's folder, as CMS's RPMs have it.
Path installed_tool_file(const std::string& tool_name);

// The links that make a version visible. The model's lead through `current`, so that replacing that
// one link switches all.
struct AreaLinks {
  Path cmake;
  Path tool_file;
  Path runtime_tool_file;  // leads into a version, past `current`: the newest toolkit's
  Path current;
};
AreaLinks area_links(const InstallOptions& options, const std::string& tool_name);

// One part of a path, of letters, digits, '.', '_', '+' and '-', that begins with neither '.' nor
// '-'.
bool is_area_name(std::string_view name);
// Whether AREA/NAME may be a tool's folder: `lib` and `config` are the area's own.
bool is_tool_folder_name(std::string_view name);

// Error when a folder between the area and `path` is a link or no folder: what is written there
// might leave the area.
Status check_inside_area(const FileSystem& fs, const Path& area, const Path& path);

}  // namespace tfaot
