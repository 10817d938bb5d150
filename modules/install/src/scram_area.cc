// SPDX-License-Identifier: Apache-2.0
#include "scram_area.h"

#include <fmt/format.h>

#include <algorithm>

#include "area_layout.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The names NAME of which `folder`/NAME`rest` is a folder, sorted.
std::vector<std::string> folders_in(const FileSystem& fs, const Path& folder,
                                    const std::string& rest = "") {
  auto names = fs.list(folder).value_or(std::vector<std::string>());
  std::erase_if(names, [&](const std::string& name) {
    return !is_area_name(name) || !is_folder(fs, folder / (name + rest));
  });
  std::ranges::sort(names);
  return names;
}

// A scram area above whose toolbox `area` is, or is in.
Status check_not_in_toolbox(const FileSystem& fs, const Path& area) {
  for (Path folder = area; folder.has_relative_path(); folder = folder.parent_path()) {
    const Path config = folder.parent_path();
    if (folder.filename() != "toolbox" || config.filename() != "config") continue;
    if (!is_scram_area(fs, config.parent_path())) continue;
    return fail(Error::at({area.string()},
                          "scram would take what is installed here for an "
                          "architecture, and no command of it would work")
                    .note("install into " + config.parent_path().string()));
  }
  return {};
}

Error no_such_arch(const InstallOptions& options, const std::vector<std::string>& archs) {
  const Path toolbox = toolbox_folder(options.area, "");
  if (options.scram_arch.empty()) {
    return Error::at({options.area.string()},
                     "in this scram area the tool file needs an architecture")
        .note(archs.empty() ? "no folder of " + toolbox.string() + " holds tools"
                            : "the area has " + join(archs, ", "))
        .note("name it with --scram-arch");
  }
  return Error::at({options.area.string()},
                   fmt::format("this scram area has no architecture '{}'", options.scram_arch))
      .note("it has " + join(archs, ", "))
      .note("'scram project' adds one; an unknown folder in " + toolbox.string() +
            " would stop every command of scram");
}

}  // namespace

bool is_scram_area(const FileSystem& fs, const Path& folder) {
  return is_folder(fs, folder / ".SCRAM") || is_file(fs, folder / "config" / "scram_version");
}

Result<std::string> find_scram_arch(const FileSystem& fs, const InstallOptions& options) {
  TFAOT_TRY(check_not_in_toolbox(fs, options.area));
  const std::string& wanted = options.scram_arch;
  if (!is_scram_area(fs, options.area)) return wanted;
  const Path toolbox = toolbox_folder(options.area, "");
  if (is_folder(fs, toolbox / "tools")) {
    return fail(Error::at({(toolbox / "tools").string()},
                          "scram takes this folder for an architecture, so no command of it works")
                    .note("remove it, then install again: the tool files go to "
                          "config/toolbox/SCRAM_ARCH/tools"));
  }
  auto archs = folders_in(fs, toolbox, "/tools");
  if (archs.empty()) archs = folders_in(fs, options.area / ".SCRAM");
  if (archs.empty() && !wanted.empty()) return wanted;
  const std::string& variable = options.scram_arch_variable;
  const std::string& said = wanted.empty() ? variable : wanted;
  if (std::ranges::find(archs, said) != archs.end()) return said;
  if (wanted.empty() && archs.size() == 1) return archs.front();
  if (wanted.empty() && archs.empty() && !variable.empty()) return variable;
  return fail(no_such_arch(options, archs));
}

}  // namespace tfaot::toolkit
