// SPDX-License-Identifier: Apache-2.0
#include "install_samples.h"

#include <ostream>

#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/scram/tool_file.h"

namespace tfaot::toolkit::testing {
namespace {

// As 'tfaot compile' makes it.
std::string tool_file(const std::string& name, const std::string& version,
                      const std::string& base) {
  return "<!-- Made by tfaot. -->\n<tool name=\"" + lower_case(name) + "\" version=\"" + version +
         "\"><client><environment name=\"" + base_variable(name) + "\" default=\"" + base +
         "\"/></client></tool>\n";
}

std::string installed_in(const SamplePackage& package, const Path& area) {
  return (area / package.tool_name / package.version).string();
}

std::string read_or_nothing(const FileSystem& fs, const Path& path) {
  const auto text = fs.read(path);
  return text ? *text : "";
}

}  // namespace

std::string rebased_tool_file(const SamplePackage& package, const Path& area) {
  const std::string text = tool_file(package.tool_name, package.version, "@TOOL_BASE@");
  return rebase_tool_file({text, "sample"}, installed_in(package, area)).value();
}

std::map<std::string, std::string> SamplePackage::files() const {
  return {{tool_name + ".xml", tool_file(tool_name, version, "@TOOL_BASE@")},
          {"include/" + tool_name + "/model.h", "#pragma once\n"},
          {"lib/cmake/" + tool_name + "/" + tool_name + "-config.cmake", "# of " + version + "\n"},
          {"lib/test.o", object}};
}

std::string runtime_tool_file(const SamplePackage& package, const Path& area) {
  return tool_file("tfaot-runtime", package.toolkit, installed_in(package, area));
}

Manifest SamplePackage::manifest() const {
  Manifest manifest;
  manifest.toolkit_version = toolkit;
  manifest.name = "test";
  manifest.version = version;
  manifest.cpp_class = "tfaot_model::test";
  manifest.tool_name = tool_name;
  manifest.architecture = "x86_64-linux";
  manifest.target_triple = "x86_64-unknown-linux-gnu";
  manifest.engine = "tensorflow-cpu 2.18.1";
  manifest.signature.key = "serving_default";
  manifest.batch_sizes = {1};
  manifest.cpu_levels = {"x86-64"};
  manifest.weights.storage = WeightsMode::kEmbedded;
  manifest.source_sha256 = sha256_of("model of " + object);
  for (const auto& [path, contents] : files()) {
    manifest.files.push_back({path, sha256_of(contents), contents.size()});
  }
  return manifest;
}

Result<PreparedInstall> prepare_sample(FileSystem& fs, const SamplePackage& package,
                                       const InstallOptions& options) {
  TFAOT_ASSIGN(const InstallPlan plan, plan_install(fs, package.manifest(), options));
  if (!plan.already_installed) {
    for (const auto& [path, contents] : package.files()) {
      TFAOT_TRY(fs.replace_atomically(plan.staging / path, contents));
    }
    TFAOT_TRY(fs.replace_atomically(plan.staging / "manifest.json",
                                    manifest_to_json(package.manifest())));
  }
  return PreparedInstall{
      .plan = plan,
      .tool_files = {rebased_tool_file(package, options.area),
                     package.has_runtime_tool ? runtime_tool_file(package, options.area)
                                              : std::string()},
      .archive = "test.tar.zst",
      .archive_sha256 = "0123"};
}

Result<InstallReceipt> install_sample(FileSystem& fs, const SamplePackage& package,
                                      const InstallOptions& options) {
  TFAOT_ASSIGN(const PreparedInstall prepared, prepare_sample(fs, package, options));
  const auto receipts = commit_installs(fs, {prepared}, kActor);
  if (receipts) return receipts->front();
  static_cast<void>(remove_leftovers(fs, options.area));
  return fail(receipts.error());
}

std::map<std::string, std::string> everything_in(const FileSystem& fs, const Path& folder) {
  std::map<std::string, std::string> found;
  const std::vector<std::string> names = fs.list(folder).value();
  for (const std::string& name : names) {
    const Path path = folder / name;
    const FileKind kind = fs.kind(path);
    found[path.string()] =
        kind == FileKind::kDirectory ? "folder"
        : kind == FileKind::kSymlink
            ? fs.read_symlink(path).value().string()
            : fs.read(path).value() + " of " + std::to_string(fs.last_used(path).value());
    if (kind == FileKind::kDirectory) found.merge(everything_in(fs, path));
  }
  return found;
}

std::ostream& operator<<(std::ostream& out, const AreaView& view) {
  return out << "version '" << view.version << "', object '" << view.object << "', cmake '"
             << view.cmake << "', tool file '" << view.tool_file << "'";
}

AreaView view_of(const FileSystem& fs, const Path& area) {
  const Path tool = "tfaot-model-test";
  AreaView view;
  const Path current = area / tool / "current";
  if (const auto target = fs.read_symlink(current)) view.version = target->string();
  view.object = read_or_nothing(fs, current / "lib/test.o");
  view.cmake = read_or_nothing(fs, area / "lib/cmake" / tool / "tfaot-model-test-config.cmake");
  view.tool_file =
      read_or_nothing(fs, area / "config/toolbox/tools/selected" / "tfaot-model-test.xml");
  return view;
}

AreaView expected_view(const SamplePackage& package, const Path& area) {
  return {.version = package.version,
          .object = package.object,
          .cmake = "# of " + package.version + "\n",
          .tool_file = rebased_tool_file(package, area)};
}

}  // namespace tfaot::toolkit::testing
