// SPDX-License-Identifier: Apache-2.0
// Where things are in a release area (install_types.h shows it), and whether they may be there.
// Functions with a FileSystem look at the disk, the others are pure.
#pragma once

#include <string>
#include <string_view>

#include "tfaot/install/install.h"

namespace tfaot::toolkit {

inline constexpr std::string_view kCurrentName = "current";
inline constexpr std::string_view kStagingPrefix = "staging-";

Path private_folder(const Path& area);  // AREA/.tfaot
// The tool file with the final base, relative to a version's folder, as in CMS's RPMs.
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
// The target of entries.cmake: "../../TOOL/current/lib/cmake/TOOL".
Path cmake_link_target(const std::string& tool_name);

// One part of a path, made of letters, digits, '.', '_', '+' and '-', that does not begin with '.'
// or '-'.
bool is_area_name(std::string_view name);
// Whether AREA/NAME may be a tool's folder: `lib` and `config` belong to the area.
bool is_tool_folder_name(std::string_view name);
// Whether a folder of the area is a tool's folder. Then it has the link `current`, or a version
// with its installed tool file. A package tree that 'tfaot compile' wrote into a folder of the area
// has neither.
bool is_tool_folder(const FileSystem& fs, const Path& folder);

// Error if something between the area and `path` is a link or not a folder: a file written there
// might end up outside of the area.
Status check_inside_area(const FileSystem& fs, const Path& area, const Path& path);

}  // namespace tfaot::toolkit
