// SPDX-License-Identifier: Apache-2.0
#include "area_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"

namespace tfaot {

Path private_folder(const Path& area) { return area / ".tfaot"; }

Path installed_tool_file(const std::string& tool_name) {
  return Path("etc") / "scram.d" / (tool_name + ".xml");
}

AreaLinks area_links(const InstallOptions& options, const std::string& tool_name) {
  Path toolbox = options.area / "config" / "toolbox";
  if (!options.scram_arch.empty()) toolbox /= options.scram_arch;
  return {.cmake = options.area / "lib" / "cmake" / tool_name,
          .tool_file = toolbox / "tools" / "selected" / (lower_case(tool_name) + ".xml"),
          .runtime_tool_file =
              toolbox / "tools" / "selected" / (std::string(kRuntimeToolName) + ".xml"),
          .current = options.area / tool_name / kCurrentName};
}

bool is_area_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, is_name_character);
}

bool is_tool_folder_name(std::string_view name) {
  return is_area_name(name) && name != "lib" && name != "config";
}

Status check_inside_area(const FileSystem& fs, const Path& area, const Path& path) {
  Path folder = area;
  for (const Path& part : path.lexically_relative(area).parent_path()) {
    folder /= part;
    const FileKind kind = fs.kind(folder);
    if (kind == FileKind::kMissing) return {};
    if (kind == FileKind::kDirectory) continue;
    return fail(Error::at({folder.string()}, "not a folder, so nothing can be installed below it")
                    .note(fmt::format(
                        "a release area keeps its own folders: links out of {} are not followed",
                        area.string()))
                    .note("move it away, or choose another area"));
  }
  return {};
}

}  // namespace tfaot
