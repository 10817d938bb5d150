// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/package_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive_place.h"
#include "tfaot/base/limits.h"
#include "tfaot/generate/generate.h"
#include "tfaot/package/package.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// The tool files without the base given to `tfaot compile`: a package contains no path of the
// machine that made it.
Result<std::vector<StagedFile>> release_tool_files(const FileSystem& files, const Path& tree,
                                                   const Manifest& manifest) {
  const std::vector<std::string> names = {manifest.tool_name + ".xml",
                                          std::string(kRuntimeToolName) + ".xml"};
  std::vector<StagedFile> released;
  for (const ManifestFile& file : manifest.files) {
    if (std::ranges::count(names, file.path) == 0) continue;
    const Path path = tree / file.path;
    TFAOT_ASSIGN(const std::string text, read_limited(files, path, kToolFileLimit));
    TFAOT_ASSIGN(std::string rebased,
                 rebase_tool_file({text, path.string()}, GenerateOptions().tool_base));
    released.push_back({file.path, std::move(rebased), {}});
  }
  return released;
}

}  // namespace

Result<Package> pack_tree(Context& context, const ArchiveRequest& request) {
  const NamedPath named = named_path(context.files, request.tree);
  const Path& tree = named.path;
  if (named.kind != PathKind::kPackageTree) {
    return fail(wrong_input(
        context.files, tree,
        {"'tfaot package' takes a package tree", "'tfaot compile' makes one from a model"}));
  }
  ArchiveOptions options{.format = request.format};
  options.instead = [&](const Manifest& manifest) {
    return release_tool_files(context.files, tree, manifest);
  };
  context.diagnostics.verbose("checking every file of " + tree.string());
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, request.output_directory));
  TFAOT_TRY(context.files.remove_half_written(request.output_directory));
  TFAOT_ASSIGN(Package made, make_archive(context.files, tree, work.path(), options));
  const Path place = request.output_directory / made.archive.filename();
  TFAOT_TRY(put_archive(context.files, work.path(), made, place, Sums::kWritten));
  made.archive = place;
  for (const ManifestFile& file : made.manifest.files) {
    context.diagnostics.verbose(fmt::format("holds {} ({} bytes)", file.path, file.size));
  }
  return made;
}

}  // namespace tfaot::toolkit
