// SPDX-License-Identifier: Apache-2.0
#include "area_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {

Path private_folder(const Path& area) { return area / ".tfaot"; }

Path installed_tool_file(const std::string& tool_name) {
  return Path("etc") / "scram.d" / (tool_name + ".xml");
}

Path toolbox_folder(const Path& area, const std::string& scram_arch) {
  const Path toolbox = area / "config" / "toolbox";
  return scram_arch.empty() ? toolbox : toolbox / scram_arch;
}

AreaEntries area_entries(const InstallOptions& options, const std::string& tool_name) {
  const Path selected = toolbox_folder(options.area, options.scram_arch) / "tools" / "selected";
  return {.current = options.area / tool_name / kCurrentName,
          .cmake = options.area / "lib" / "cmake" / tool_name,
          .tool_file = selected / toolbox_file_name(tool_name),
          .runtime_tool_file = selected / toolbox_file_name(std::string(kRuntimeToolName))};
}

Path cmake_link_target(const std::string& tool_name) {
  return Path("..") / ".." / tool_name / kCurrentName / "lib" / "cmake" / tool_name;
}

bool is_area_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, is_name_character);
}

bool is_tool_folder_name(std::string_view name) {
  return is_area_name(name) && name != "lib" && name != "config";
}

bool is_tool_folder(const FileSystem& fs, const Path& folder) {
  if (fs.kind(folder) != FileKind::kDirectory) return false;
  if (fs.kind(folder / kCurrentName) == FileKind::kSymlink) return true;
  const Path tool_file = installed_tool_file(folder.filename().string());
  const auto names = fs.list(folder).value_or(std::vector<std::string>());
  return std::ranges::any_of(names, [&](const std::string& name) {
    return is_area_name(name) && fs.kind(folder / name / tool_file) == FileKind::kFile;
  });
}

Status check_inside_area(const FileSystem& fs, const Path& area, const Path& path) {
  Status own = check_own_folders(fs, area, path);
  if (own) return own;
  return fail(std::move(own).error().note("move it away, or choose another area"));
}

}  // namespace tfaot::toolkit
