// SPDX-License-Identifier: Apache-2.0
#include "output_checks.h"

#include <fmt/format.h>

#include "tfaot/install/install.h"
#include "tfaot/package/package.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

// AREA/TOOL/VERSION or AREA/TOOL/current: installing adds etc/scram.d. A version that does not
// exist yet has others next to it.
bool is_installed(const FileSystem& files, const Path& folder) {
  if (is_folder(files, folder / "etc/scram.d")) return true;
  const Path tool = folder.parent_path();
  return files.kind(tool / "current") == FileKind::kSymlink &&
         is_release_area(files, tool.parent_path());
}

}  // namespace

Status check_not_installed(const FileSystem& files, const Path& folder,
                           const std::string& instead) {
  if (!is_installed(files, folder)) return {};
  return fail(Error::at({folder.string()}, "installed versions are not changed in place")
                  .note(instead)
                  .note("'tfaot install --replace' then replaces the version by the archive"));
}

Status check_holds_no_other_model(const FileSystem& files, const Path& folder,
                                  const std::string& model_name) {
  const bool is_torn = is_torn_tree(files, folder);
  if (!is_torn && !is_package_tree(files, folder)) return {};
  const auto manifest = is_torn ? read_torn_tree(files, folder) : read_tree(files, folder);
  if (!manifest || manifest->name == model_name) return {};
  return fail(
      Error::at({folder.string()},
                fmt::format("holds the package tree of model '{}', so it cannot be that of '{}'",
                            manifest->name, model_name))
          .note("a folder holds one model: choose another folder, or remove this one first"));
}

Status check_outside_model(const Path& folder, const Path& model) {
  const std::string inside = folder.lexically_relative(model).string();
  if (inside.empty() || inside == ".." || inside.starts_with("../")) return {};
  return fail(Error::usage(fmt::format("--output-directory: '{}' is in the model's own folder, "
                                       "'{}'",
                                       folder.string(), model.string()))
                  .note("choose a folder outside of it"));
}

Status check_new_tree(const FileSystem& files, const Path& folder, const ModelSection& model) {
  TFAOT_TRY(check_outside_model(folder, model.source));
  TFAOT_TRY(check_not_installed(files, folder,
                                "write into a folder outside of the release area, and make an "
                                "archive from it: tfaot package"));
  return check_holds_no_other_model(files, folder, model.name);
}

}  // namespace tfaot::toolkit
