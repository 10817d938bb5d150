// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/model_tree.h"

#include <algorithm>
#include <iterator>

#include "stored_check.h"
#include "tfaot/base/pattern.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config_keys.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/records/sbom.h"
#include "tfaot/workflow/work_folder.h"
#include "verify_code.h"

namespace tfaot::toolkit {
namespace {

std::vector<StagedFile> object_files(const CompiledModel& compiled, const ObjectFolders& folders) {
  std::vector<StagedFile> staged = mapped(compiled.codes, [&](const CompiledCode& code) {
    return StagedFile{"lib/" + code.object, "", folders.code / code.object,
                      folders.code_is_movable};
  });
  if (!compiled.weights_object.empty()) {
    const std::string& name = compiled.weights_object;
    staged.push_back(
        {"lib/" + name, "", folders.weights / name, true, compiled.weights_object_sha256});
  }
  return staged;
}

// The check as a file, if this machine can run the code. Else a later `tfaot verify --deep` says
// so.
Result<std::vector<StagedFile>> check_file(Context& context, const Manifest& manifest,
                                           const CompiledModel& compiled,
                                           const std::vector<StagedFile>& staged,
                                           const Path& folder) {
  RunnableCode code{manifest, compiled, {.tree = folder, .output = {}, .machine = {}}, folder};
  for (const StagedFile& file : staged) {
    if (is_object_file(file.path)) code.link.objects.push_back(file.source);
    if (file.path == kRuntimeLibrary) code.link.runtime = file.source;
  }
  TFAOT_TRY(context.files.create_directories(folder));
  TFAOT_ASSIGN(const MadeCheck made, make_stored_check(context, code));
  TFAOT_TRY(context.files.remove_all(folder));
  if (made.check) {
    return std::vector{StagedFile{std::string(kCheckName), stored_check_to_json(*made.check), {}}};
  }
  context.diagnostics.verbose("no check of the code is stored: " + made.why_not);
  return std::vector<StagedFile>();
}

}  // namespace

Result<Manifest> write_model_tree(Context& context, const ModelSpec& spec,
                                  const CompiledModel& compiled, const ObjectFolders& objects,
                                  const ModelTreeOptions& options) {
  Manifest manifest = make_manifest(spec, compiled, options.generate.tool_name, {});
  manifest.tuning = options.tuning;
  std::vector<StagedFile> staged = object_files(compiled, objects);
  TFAOT_ASSIGN(const auto hashes, hash_staged_files(context.files, staged));
  manifest.record = ModelRecord{spec.model.name, record_version(spec.model), code_sha256(hashes)};
  TFAOT_ASSIGN(manifest.imports, imports_of(context.files, staged));
  for (StagedFile& file : staged) {  // once is enough
    file.sha256 = std::ranges::find(hashes, file.path, &ManifestFile::path)->sha256;
  }
  TFAOT_ASSIGN(GeneratedFiles generated,
               generate_files(spec, compiled, manifest, options.generate.tool_base));
  staged.insert(staged.end(), options.runtime.begin(), options.runtime.end());
  for (GeneratedFile& file : generated.files) {
    staged.push_back({std::move(file.path), std::move(file.text), {}});
  }
  staged.push_back({std::string(kRecordName), package_record_to_json(spec, compiled), {}});
  if (options.stores_check) {
    TFAOT_ASSIGN(auto check,
                 check_file(context, manifest, compiled, staged, objects.weights / "check"));
    std::ranges::move(check, std::back_inserter(staged));
  }
  TFAOT_ASSIGN(manifest.files, hash_staged_files(context.files, staged));
  staged.push_back({std::string(kSbomName), sbom_to_json(manifest), {}});
  TFAOT_ASSIGN(const auto sbom, hash_staged_files(context.files, {staged.back()}));
  manifest.files.push_back(sbom.front());
  std::ranges::sort(manifest.files, {}, &ManifestFile::path);
  TFAOT_TRY(write_tree(context.files, staged, manifest, options.output_directory));
  return manifest;
}

Result<ModelTree> make_model_tree(Context& context, const ModelSpec& spec,
                                  const ModelTreeOptions& options) {
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, options.output_directory));
  CompileOptions compile = options.compile;
  compile.work_directory = work.path();
  TFAOT_ASSIGN(const CompiledModel compiled,
               compile_model(context.files, spec, compile, context.diagnostics));
  TFAOT_ASSIGN(Manifest manifest, write_model_tree(context, spec, compiled,
                                                   {work.path(), work.path(), true}, options));
  ModelTree tree{std::move(manifest), compiled.codes.size(), 0};
  for (const CompiledCode& code : compiled.codes) tree.cached_objects += code.from_cache ? 1 : 0;
  return tree;
}

std::string version_rule(const std::string& version) {
  const TextRule& rule = config_key("model.version").text;
  const bool fits = version.size() <= rule.max_length && Pattern(rule.pattern).matches(version);
  return fits ? "" : rule.meaning;
}

}  // namespace tfaot::toolkit
