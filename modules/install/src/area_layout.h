// SPDX-License-Identifier: Apache-2.0
// Where things are in a release area (records/area_layout.h has the table), what is there, and
// whether it may be there. Functions with a FileSystem look at the disk, the others are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tfaot/install/install.h"
#include "tfaot/records/area_layout.h"

namespace tfaot::toolkit {

inline constexpr std::string_view kCurrentName = "current";
inline constexpr std::string_view kStagingPrefix = "staging-";

Path private_folder(const Path& area);  // AREA/.tfaot
// The tool file with the final base, relative to a version's folder.
Path installed_tool_file(const std::string& tool_name);

// AREA/config/toolbox/[SCRAM_ARCH].
Path toolbox_folder(const Path& area, const std::string& scram_arch);

// The words of the area's rows for an install of this version.
AreaWords area_words(const InstallOptions& options, const std::string& tool_name,
                     const std::string& version);
// The runtime's tool file in the toolbox: a plain file, of a package of the newest toolkit.
Path runtime_tool_file(const InstallOptions& options);

// One part of a path, made of letters, digits, '.', '_', '+' and '-', that does not begin with '.'
// or '-'.
bool is_area_name(std::string_view name);
// True if AREA/NAME may be a tool's folder: `lib` and `config` belong to the area.
bool is_tool_folder_name(std::string_view name);
// True if a folder of the area is a tool's folder. Then it has the link `current`, or a version
// with its installed tool file. A package tree that 'tfaot compile' wrote into a folder of the area
// has neither.
bool is_tool_folder(const FileSystem& fs, const Path& folder);

// The names of the area's folders that are tools' folders, sorted.
Result<std::vector<std::string>> list_tools(const FileSystem& fs, const Path& area);
// The folders of AREA/TOOL that are versions, 1.9.0 before 1.10.0.
Result<std::vector<std::string>> list_versions(const FileSystem& fs, const Path& tool_folder);
// The version that AREA/TOOL/current names, which need not exist; empty if there is no such link.
std::string named_current(const FileSystem& fs, const Path& tool_folder);

// Error, with the versions that exist, if AREA/TOOL/VERSION is no installed version.
Status check_installed(const FileSystem& fs, const Path& area, const std::string& tool_name,
                       const std::string& version);

// Error if something between the area and `path` is a link or not a folder: a file written there
// might end up outside of the area.
Status check_inside_area(const FileSystem& fs, const Path& area, const Path& path);

// Toolboxes hold plain files: scram copies a release's toolbox into every developer area, where
// links would lead nowhere. It also writes through a link when another tool file of that name is
// set up.

// What a toolbox contains under the name of a tool.
struct ToolboxEntry {
  enum class Maker { kNobody, kTfaot, kOther };
  Maker maker = Maker::kNobody;  // kNobody: the file does not exist
  // The package of this area to which a file of ours belongs; empty if there is none.
  std::string tool_name{};
  std::string version{};
};
ToolboxEntry read_toolbox_entry(const FileSystem& fs, const Path& area, const Path& file);

// The files of this tool in all toolboxes of the area; the toolbox without a SCRAM_ARCH comes
// first. Toolboxes that links lead to are another area's.
std::vector<Path> tool_files_in(const FileSystem& fs, const Path& area,
                                const std::string& tool_name);

// The version of the package that the runtime's tool file leads to; empty if there is none, or none
// that works.
std::string toolkit_of_runtime(const FileSystem& fs, const Path& tool_file);

}  // namespace tfaot::toolkit
