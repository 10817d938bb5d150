// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/tuned_package.h"

#include <fmt/format.h>

#include <utility>

#include "changed_package.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/generate/generate.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/tune/tune.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

Status check_holds_costs(const Manifest& manifest, const Path& tree) {
  const std::string path = cost_header(manifest).path;
  if (contains(manifest.files, path, &ManifestFile::path)) return {};
  return fail(Error::at({tree.string()}, "the package has no " + path)
                  .note("it was made by an older tfaot; compile the model again"));
}

// The record says what share of a call rows of padding do not cost. Packages of cms-tfaot's areas
// have none.
Status add_live_shares(const FileSystem& files, const Path& tree, Manifest& manifest) {
  const Path file = tree / kRecordName;
  if (!is_file(files, file)) return {};
  TFAOT_ASSIGN(const std::string text, read_limited(files, file, kRecordLimit));
  TFAOT_ASSIGN(const PackagedModel model, package_record_from_json(manifest, text, file.string()));
  for (TunedCall& call : manifest.tuning->calls) {
    for (const CompiledCode& code : model.compiled.codes) {
      if (code.batch_size != call.batch_size || code.cpu_level != call.cpu_level) continue;
      call.live_permille = code.live_permille;
    }
  }
  return {};
}

Result<ChangedContents> measure(Context& context, Manifest manifest, const Path& tree,
                                const Path& work, const TuneRequest& request) {
  TFAOT_TRY(check_holds_costs(manifest, tree));
  TuneOptions options;
  options.compiler = request.compiler;
  options.machine = context.environment.architecture;
  options.budget = request.budget;
  options.tree = tree;
  options.work_directory = work;
  options.program = measuring_program(manifest);
  TFAOT_ASSIGN(manifest.tuning,
               tune_package(context.files, manifest, options, context.diagnostics));
  TFAOT_TRY(add_live_shares(context.files, tree, manifest));
  GeneratedFile costs = cost_header(manifest);
  return ChangedContents{std::move(manifest), {std::move(costs)}};
}

}  // namespace

Result<PackageForm> package_form(const Context& context, const Path& path) {
  const NamedPath named = named_path(context.files, path);
  if (named.is_tree()) return PackageForm::kTree;
  if (named.kind == PathKind::kArchive) return PackageForm::kArchive;
  return fail(
      wrong_input(context.files, path, {fmt::format("'tfaot tune' takes {}", kPackageForms), ""}));
}

Result<Manifest> write_tuned_package(Context& context, const TuneRequest& request) {
  TFAOT_TRY(package_form(context, request.package));
  return change_package(context,
                        {.package = request.package,
                         .output = request.output,
                         .allow_large = request.allow_large,
                         .instead = "tune the archive it was installed from: tfaot tune --package"},
                        [&](Manifest manifest, const Path& tree, const Path& work) {
                          return measure(context, std::move(manifest), tree, work, request);
                        });
}

Result<Suggestion> suggest_for_package(const Context& context, const Path& package,
                                       const SuggestOptions& options, const std::string& name) {
  TFAOT_ASSIGN(const FoundPackage found, find_package(context, {package, false, "tfaot tune"}));
  const Manifest& manifest = found.manifest;
  if (manifest.rows == RowsMode::kCoupled) {
    return fail(Error::at({name},
                          "this model runs only batches of the sizes that it is compiled for "
                          "(compilation.rows: coupled)")
                    .note("compile the sizes that you run; no others can be suggested"));
  }
  return suggest_sizes(manifest, options, name);
}

}  // namespace tfaot::toolkit
