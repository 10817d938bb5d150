// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/check_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "tfaot/base/text.h"
#include "tfaot/compile/engine_questions.h"
#include "tfaot/config/initial_config.h"
#include "tfaot/records/model_check_json.h"
#include "tfaot/workflow/build_package.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// Keeps the warnings, which are part of the answer, and hands on the rest.
class WarningsKept final : public Diagnostics {
 public:
  explicit WarningsKept(Diagnostics& other) : other_(other) {}
  void warning(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    warnings_.push_back(text);
  }
  void verbose(const std::string& text) override { other_.verbose(text); }
  void progress(std::size_t done, std::size_t total, const std::string& step) override {
    other_.progress(done, total, step);
  }
  // REQUIRES: nothing is still working.
  std::vector<std::string> warnings() && { return std::move(warnings_); }

 private:
  Diagnostics& other_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

// Without a word of the engine, or about a file that we write, the fault is not the model's.
bool is_about_the_model(const Error& error, const EngineCheck& found, const Path& scratch) {
  if (error.where().file.starts_with(scratch.string())) return false;
  return !error.topic().empty() || !found.operations.empty() || !found.problems.empty();
}

// Compiles what the config says; `spec` was loaded from it.
Result<SignatureCheck> check_as_configured(const Context& context, const CheckRequest& request,
                                           const Path& config, const ModelSpec& spec,
                                           const Path& scratch) {
  SignatureCheck check;
  if (spec.model.format == ModelFormat::kSavedModel) check.signature = spec.model.serving_key;
  check.target_triple = spec.compilation.target_triple;
  check.cpu_levels = spec.compilation.cpu_levels;
  check.batch_sizes = spec.compilation.batch_sizes;
  check.rows = spec.compilation.rows;
  check.compute = spec.compilation.compute;

  WarningsKept diagnostics(context.diagnostics);
  Context inner = context.telling(diagnostics);
  BuildRequest build;
  build.config = config;
  build.overrides = request.overrides;
  build.output_directory = request.keep.empty() ? scratch / "package" : request.keep;
  build.engine = request.engine;
  build.cache = request.cache;
  build.check = &check.found;
  const Result<ModelTree> made = build_package(inner, build);
  if (request.keep.empty()) TFAOT_TRY(context.files.remove_all(build.output_directory));
  check.compiles = made.has_value();
  check.warnings = std::move(diagnostics).warnings();
  if (made) return check;
  if (!is_about_the_model(made.error(), check.found, scratch)) return fail(made.error());
  if (check.found.problems.empty()) check.found.problems = problems_of(made.error(), 0);
  return check;
}

// A config with the defaults that `tfaot init` suggests.
Result<SignatureCheck> check_signature(const Context& context, const CheckRequest& request,
                                       const ModelDescription& model,
                                       const DescribedSignature& signature, const Path& scratch) {
  InitialConfig values;
  values.name = suggested_model_name(request.path);
  values.version = "1.0.0";
  values.source = request.path.string();
  values.no_batch = request.overrides.batch == BatchMode::kNone;
  const Path config = scratch / "aot_config.yaml";
  TFAOT_TRY(context.files.replace_atomically(config, initial_config(model, signature, values),
                                             Durability::kScratch));
  auto check = load_model_spec(context.files, config, request.overrides)
                   .and_then([&](const ModelSpec& spec) {
                     return check_as_configured(context, request, config, spec, scratch);
                   });
  // The user has not written that config.
  if (check || check.error().where().file != config.string()) return check;
  SignatureCheck refused;
  refused.signature = signature.key;
  refused.found.problems = problems_of(check.error(), 0);
  return refused;
}

Result<std::vector<const DescribedSignature*>> wanted_signatures(const CheckRequest& request,
                                                                 const ModelDescription& model) {
  if (request.signature.empty() && request.keep.empty()) {
    return mapped(model.signatures, [](const DescribedSignature& signature) { return &signature; });
  }
  const auto found = initial_signature(model, request.signature);
  if (!found) return fail(Error(found.error()).moved_to({request.path.string()}));
  return std::vector<const DescribedSignature*>{*found};
}

}  // namespace

bool ModelCheck::compiles() const {
  return std::ranges::all_of(signatures, &SignatureCheck::compiles);
}

Result<ModelCheck> check_model(const Context& context, const CheckRequest& request) {
  const FileSystem& files = context.files;
  const PathKind kind = named_path(files, request.path).kind;
  ModelCheck check;
  if (kind == PathKind::kConfig) {
    if (!request.signature.empty()) {
      return fail(Error::usage("--signature is for models: a config names its signature"));
    }
    TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
    TFAOT_ASSIGN(const ModelSpec spec, load_model_spec(files, request.path, request.overrides));
    check.is_config = true;
    check.format = spec.model.format;
    TFAOT_ASSIGN(auto one,
                 check_as_configured(context, request, request.path, spec, scratch.path()));
    check.signatures.push_back(std::move(one));
    return check;
  }
  if (kind != PathKind::kModel) {
    return fail(
        wrong_input(files, request.path,
                    {fmt::format("'{}' takes a config, {}", request.command, model_kinds()), ""}));
  }
  TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, request.engine.engine));
  TFAOT_ASSIGN(const ModelDescription model, describe_model(files, request.path, engine));
  TFAOT_ASSIGN(const auto wanted, wanted_signatures(request, model));
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  check.format = model.format;
  for (const DescribedSignature* signature : wanted) {
    TFAOT_ASSIGN(auto one, check_signature(context, request, model, *signature, scratch.path()));
    check.signatures.push_back(std::move(one));
  }
  return check;
}

Result<std::vector<CheckedOperation>> compiled_operations(const Context& context,
                                                          ModelFormat format,
                                                          const EngineRun& engine) {
  TFAOT_ASSIGN(const EngineProgram program, find_engine(context, engine.engine));
  return known_operations(context.files, format, program);
}

}  // namespace tfaot::toolkit
