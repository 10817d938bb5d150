// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string.h>  // strverscmp, which <cstring> does not promise

#include <algorithm>
#include <set>
#include <utility>

#include "area_layout.h"
#include "in_the_way.h"
#include "scram_area.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit {
namespace {

Status check_name(const std::string& what, const std::string& name, bool allowed) {
  if (allowed) return {};
  return fail(
      Error(fmt::format("{} '{}' cannot name a folder of a release area", what, shown(name)))
          .note("use letters, digits, '.', '_', '+' and '-', and begin with a letter or digit")
          .note("'lib' and 'config' as a tool and 'current' as a version are reserved"));
}

// The newest toolkit's runtime serves all models of an area, so a package must not claim to come
// from a toolkit that does not exist.
Status check_toolkit(const Manifest& manifest, const InstallOptions& options) {
  if (options.toolkit.empty() ||
      ::strverscmp(manifest.toolkit_version.c_str(), options.toolkit.c_str()) <= 0) {
    return {};
  }
  return fail(
      Error(fmt::format("the package was made by tfaot {}, which is newer than this tfaot {}",
                        manifest.toolkit_version, options.toolkit))
          .note("install it with that tfaot, or a newer one"));
}

Status check_options(const Manifest& manifest, const InstallOptions& options) {
  if (!options.area.is_absolute()) {
    return fail(Error::usage(
        fmt::format("the release area '{}' is not an absolute path", options.area.string())));
  }
  TFAOT_TRY(check_name("the tool", manifest.tool_name, is_tool_folder_name(manifest.tool_name)));
  TFAOT_TRY(check_name("the version", manifest.version,
                       is_area_name(manifest.version) && manifest.version != kCurrentName));
  TFAOT_TRY(check_name("the SCRAM_ARCH", options.scram_arch,
                       options.scram_arch.empty() || is_area_name(options.scram_arch)));
  return check_toolkit(manifest, options);
}

// True if all files are as the package has them, in folders of the tree's own. A link would lead
// writers out of the area.
bool is_whole(const FileSystem& fs, const Path& root, const Manifest& manifest) {
  const std::string runtime(kRuntimeToolName);
  for (const Path& installed :
       {installed_tool_file(manifest.tool_name), installed_tool_file(runtime)}) {
    if (!check_own_folders(fs, root, root / installed)) return false;
  }
  if (fs.kind(root / kManifestName) != FileKind::kFile) return false;
  for (const ManifestFile& listed : manifest.files) {
    if (!check_own_folders(fs, root, root / listed.path)) return false;
    const Path path = root / listed.path;
    if (fs.kind(path) != FileKind::kFile) return false;
    const auto sha256 = sha256_of_file(fs, path);
    if (!sha256 || *sha256 != listed.sha256) return false;
  }
  return true;
}

// Paths of files that differ, or that only one of the packages has.
std::set<std::string> differing_files(const Manifest& one, const Manifest& other) {
  const auto hashes_of = [](const Manifest& manifest) {
    std::set<std::pair<std::string, std::string>> hashes;
    for (const ManifestFile& file : manifest.files) hashes.emplace(file.path, file.sha256);
    return hashes;
  };
  std::vector<std::pair<std::string, std::string>> files;
  std::ranges::set_symmetric_difference(hashes_of(one), hashes_of(other),
                                        std::back_inserter(files));
  std::set<std::string> paths;
  for (const auto& [path, hash] : files) paths.insert(path);
  return paths;
}

// "5 of 47 files: lib/a.o, lib/b.o, model.h, ..."
std::string list_of(const std::set<std::string>& paths, std::size_t all) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string> names(paths.begin(), paths.end());
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return fmt::format("{} of {} files: {}", paths.size(), all, join(names, ", "));
}

// "source model, batch sizes, 1 of 47 files: lib/a.o"
std::string differences(const Manifest& installed, const Manifest& wanted) {
  std::vector<std::string> words;
  const auto add = [&words](bool differs, const char* word) {
    if (differs) words.push_back(word);
  };
  add(installed.architecture != wanted.architecture, "architecture");
  add(installed.source_sha256 != wanted.source_sha256, "source model");
  add(installed.batch_sizes != wanted.batch_sizes, "batch sizes");
  add(installed.cpu_levels != wanted.cpu_levels, "CPU levels");
  add(installed.weights != wanted.weights, "storage of the weights");
  add(installed.optimize != wanted.optimize, "optimize");
  add(installed.engine != wanted.engine, "engine");
  add(installed.toolkit_version != wanted.toolkit_version, "tfaot version");
  const auto files = differing_files(installed, wanted);
  if (!files.empty()) words.push_back(list_of(files, wanted.files.size()));
  add(words.empty(), "only manifest.json");
  return join(words, ", ");
}

Error other_contents(const Path& destination, const std::string& reason) {
  return Error::at({destination.string()}, "this version is already installed with other contents")
      .note(reason)
      .note("give the new package another version, or replace the installed one (--replace)");
}

}  // namespace

Result<InstallPlan> plan_install(const FileSystem& fs, const Manifest& manifest,
                                 const InstallOptions& options) {
  TFAOT_TRY(check_options(manifest, options));
  InstallOptions found = options;
  if (options.make_current) {
    TFAOT_ASSIGN(found.scram_arch, find_scram_arch(fs, options));
  }
  const AreaEntries entries = area_entries(found, manifest.tool_name);
  InstallPlan plan{
      .options = found,
      .manifest = manifest,
      .staging = private_folder(options.area) /
                 fmt::format("{}{}-{}", kStagingPrefix, manifest.tool_name, manifest.version),
      .destination = options.area / manifest.tool_name / manifest.version,
      .tool_file = entries.tool_file};
  for (const Path& path : {plan.staging, plan.destination, entries.cmake, entries.tool_file}) {
    TFAOT_TRY(check_inside_area(fs, options.area, path));
  }
  TFAOT_TRY(check_nothing_in_the_way(fs, plan));
  TFAOT_ASSIGN(const FileKind kind, fs.look(plan.destination));
  if (kind == FileKind::kMissing) return plan;
  if (kind != FileKind::kDirectory) {
    return fail(Error::at({plan.destination.string()},
                          "not a folder, so this version cannot be installed there")
                    .note("move it away, then install again"));
  }

  const Path manifest_file = plan.destination / kManifestName;
  const auto installed = read_manifest(fs, manifest_file);
  if (installed && manifest_to_json(*installed) == manifest_to_json(manifest)) {
    // A damaged tree of the same package is always installed again.
    plan.already_installed = is_whole(fs, plan.destination, manifest);
    return plan;
  }
  if (options.replace) return plan;
  return fail(other_contents(plan.destination,
                             installed ? "they differ in: " + differences(*installed, manifest)
                                       : "the folder holds no package that can be read"));
}

}  // namespace tfaot::toolkit
