// SPDX-License-Identifier: Apache-2.0
// The layout of a release area, the one table of it: 'tfaot install' walks over its rows, and the
// file that builds RPMs is filled in from them (templates/compile_rpm.file.mustache). Beside them
// an area has AREA/.tfaot, with its lock and staging folders. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tfaot::toolkit {

enum class AreaKind { kTree, kLink, kToolFile };

struct AreaRow {
  AreaKind kind;
  const char* name;           // in templates
  std::string_view path;      // below the area
  std::string_view target{};  // of a link
};

// In the order in which an install changes them. CMake's users get the new version with `current`,
// scram's users with the tool file in the toolbox, a copy of the version's. Until then they use the
// version before, which is complete in its own folder. In a first install the CMake link leads
// nowhere yet; with it CMAKE_PREFIX_PATH=AREA finds every model.
inline constexpr AreaRow kAreaTree = {AreaKind::kTree, "tree", "{tool}/{version}"};
inline constexpr AreaRow kAreaCurrent = {AreaKind::kLink, "current", "{tool}/current", "{version}"};
inline constexpr AreaRow kAreaToolboxFile = {AreaKind::kToolFile, "toolbox_file",
                                             "{toolbox}/tools/selected/{file}"};
inline constexpr AreaRow kAreaLayout[] = {
    kAreaTree,
    {AreaKind::kLink, "cmake_link", "lib/cmake/{tool}", "../../{tool}/current/lib/cmake/{tool}"},
    kAreaCurrent,
    kAreaToolboxFile};

// The package's tool file with the final base, relative to its tree, as in CMS's RPMs.
inline constexpr std::string_view kInstalledToolFile = "etc/scram.d/{tool}.xml";
// The folder of scram's tool files; each architecture may have a folder of its own in it.
inline constexpr std::string_view kToolboxes = "config/toolbox";

// The values of the words in braces.
struct AreaWords {
  std::string tool{};
  std::string version{};
  std::string toolbox{kToolboxes};
  std::string file{};  // toolbox_file_name() of the tool
};
std::string in_area(std::string_view path, const AreaWords& words);

}  // namespace tfaot::toolkit
