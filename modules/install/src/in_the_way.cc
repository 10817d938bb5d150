// SPDX-License-Identifier: Apache-2.0
#include "in_the_way.h"

#include <fmt/format.h>

#include "area_layout.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/records/file_names.h"
#include "toolbox.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kAdvice =
    "move it away, or give the package another tool name (--tool-name of 'tfaot compile')";

Error not_ours(const Path& path, std::string_view what) {
  return Error::at({path.string()}, fmt::format("{} that tfaot did not make is in the way", what))
      .note(kAdvice);
}

// A version may be damaged, but must have part of a package.
Status check_version(const FileSystem& fs, const InstallPlan& plan) {
  TFAOT_ASSIGN(const auto names, fs.list(plan.destination));
  const bool is_ours = fs.kind(plan.destination / kManifestName) != FileKind::kMissing ||
                       fs.kind(plan.destination / installed_tool_file(plan.manifest.tool_name)) !=
                           FileKind::kMissing;
  if (names.empty() || is_ours) return {};
  return fail(not_ours(plan.destination, "a folder"));
}

// AREA/TOOL may hold versions, or nothing.
Status check_folder(const FileSystem& fs, const InstallPlan& plan) {
  const Path folder = plan.destination.parent_path();
  if (fs.kind(folder) == FileKind::kMissing) return {};
  if (fs.kind(plan.destination) == FileKind::kDirectory) return check_version(fs, plan);
  if (fs.kind(plan.destination) != FileKind::kMissing) return {};  // plan_install() reports it
  TFAOT_ASSIGN(const auto names, fs.list(folder));
  if (names.empty() || is_tool_folder(fs, folder)) return {};
  return fail(not_ours(folder, "a folder"));
}

// scram and find_package() use names in lower case.
Status check_other_case(const FileSystem& fs, const InstallPlan& plan) {
  const std::string& tool_name = plan.manifest.tool_name;
  const Path& area = plan.options.area;
  if (fs.kind(area) == FileKind::kMissing) return {};
  TFAOT_ASSIGN(const auto names, fs.list(area));
  for (const std::string& name : names) {
    if (name == tool_name || lower_case(name) != lower_case(tool_name)) continue;
    if (!is_tool_folder(fs, area / name)) continue;
    return fail(Error::at({(area / name).string()},
                          fmt::format("a tool '{}' is installed, and '{}' is the same name in "
                                      "lower case, the form that scram uses",
                                      name, tool_name))
                    .note("give the package another tool name (--tool-name of 'tfaot compile')"));
  }
  return {};
}

Status check_link(const FileSystem& fs, const Path& link, const Path& target) {
  const FileKind kind = fs.kind(link);
  if (kind == FileKind::kMissing) return {};
  const auto there = fs.read_symlink(link);
  if (there && (target.empty() || *there == target)) return {};
  return fail(not_ours(link, kind == FileKind::kDirectory ? "a folder"
                             : kind == FileKind::kSymlink ? "a link"
                                                          : "a file"));
}

Status check_toolbox_file(const FileSystem& fs, const InstallPlan& plan, const Path& file) {
  const ToolboxEntry entry = read_toolbox_entry(fs, plan.options.area, file);
  if (entry.maker != ToolboxEntry::Maker::kOther) return {};
  return fail(not_ours(file, "a tool file"));
}

}  // namespace

Status check_nothing_in_the_way(const FileSystem& fs, const InstallPlan& plan) {
  const std::string& tool_name = plan.manifest.tool_name;
  const AreaEntries entries = area_entries(plan.options, tool_name);
  TFAOT_TRY(check_folder(fs, plan));
  TFAOT_TRY(check_other_case(fs, plan));
  TFAOT_TRY(check_link(fs, entries.current, {}));
  if (!plan.options.make_current) return {};
  TFAOT_TRY(check_link(fs, entries.cmake, cmake_link_target(tool_name)));
  TFAOT_TRY(check_toolbox_file(fs, plan, entries.tool_file));
  return check_toolbox_file(fs, plan, entries.runtime_tool_file);
}

}  // namespace tfaot::toolkit
