// SPDX-License-Identifier: Apache-2.0
// Where things lie in a release area (install_types.h has the picture), and whether they may lie
// there. Those with a FileSystem look at the disk, the others are pure.
#pragma once

#include <string>
#include <string_view>

#include "tfaot/install/install.h"

namespace tfaot::toolkit {

inline constexpr std::string_view kCurrentName = "current";
inline constexpr std::string_view kStagingPrefix = "staging-";

Path private_folder(const Path& area);  // AREA/.tfaot
// The tool file with the final base, relative to a version's folder, as CMS's RPMs have it.
Path installed_tool_file(const std::string& tool_name);

// AREA/config/toolbox/[SCRAM_ARCH].
Path toolbox_folder(const Path& area, const std::string& scram_arch);

// What makes a version visible.
struct AreaEntries {
  Path current;            // link to the version
  Path cmake;              // link that leads through `current`
  Path tool_file;          // plain file, of the version
  Path runtime_tool_file;  // plain file, of a package of the newest toolkit
};
AreaEntries area_entries(const InstallOptions& options, const std::string& tool_name);
// What entries.cmake leads to: "../../TOOL/current/lib/cmake/TOOL".
Path cmake_link_target(const std::string& tool_name);

// One part of a path, of letters, digits, '.', '_', '+' and '-', that begins with neither '.' nor
// '-'.
bool is_area_name(std::string_view name);
// Whether AREA/NAME may be a tool's folder: `lib` and `config` are the area's own.
bool is_tool_folder_name(std::string_view name);
// Whether AREA/NAME is one. It has the link `current`, or a version with its installed tool file:
// a package tree of 'tfaot compile' in a folder of the area has none.
bool is_tool_folder(const FileSystem& fs, const Path& folder);

// Error when a folder between the area and `path` is a link or no folder: what is written there
// might leave the area.
Status check_inside_area(const FileSystem& fs, const Path& area, const Path& path);

}  // namespace tfaot::toolkit
