// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/report_model.h"

#include <fmt/format.h>

#include <utility>

#include "tfaot/base/interrupts.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/frameworks.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/profile_models.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// The user's, or the one that is installed.
Result<Path> find_library(const Context& context, const ReportRequest& request,
                          ProfiledEngine engine) {
  const auto named = request.libraries.find(engine);
  if (named != request.libraries.end()) return named->second;
  return find_framework(context, engine, fmt::format("--library {}=FILE.so", word_of(engine)));
}

// Error: this machine lacks the framework, or it does not run models of this format.
Result<PeerModel> peer_of(const Context& context, const ReportRequest& request,
                          const BesideFramework& beside, const ModelSection& model) {
  PeerModel peer{beside.engine, beside.model, beside.name, {}};
  if (peer.model.empty()) {
    if (!runs_format(beside.engine, model.format)) {
      return fail(
          Error(fmt::format("{} does not run {}", word_of(beside.engine), one_of(model.format)))
              .note(fmt::format("name the same model in its own form: --beside {}=MODEL",
                                word_of(beside.engine))));
    }
    peer.model = model.source;
    peer.name = request.name;
  }
  TFAOT_ASSIGN(peer.library, find_library(context, request, beside.engine));
  return peer;
}

Status check_named_models(const FileSystem& files, const ReportRequest& request) {
  for (const BesideFramework& beside : request.beside) {
    if (beside.model.empty()) continue;
    TFAOT_ASSIGN(const FileKind kind, files.look(beside.model));
    if (kind == FileKind::kMissing) {
      return fail(Error::at({beside.name}, "no such file").note("named by --beside"));
    }
    TFAOT_TRY(check_peer_model(files, beside.engine, beside.model, beside.name));
  }
  for (const auto& [engine, library] : request.libraries) {
    if (is_file(files, library)) continue;
    return fail(Error::at({library.string()}, "no such file").note("named by --library"));
  }
  return {};
}

// A question that stays open is an answer, too. An interrupt, a wrong command line and a defect of
// tfaot end the report.
template <class Answer>
Status check_answer(const Result<Answer>& answer) {
  TFAOT_TRY(check_interrupts());
  if (answer || answer.error().kind() == ErrorKind::kInput) return {};
  return fail(answer.error());
}

// Asks one question after the other about the package in `tree`. Used by one thread.
class Reporter {
 public:
  Reporter(Context& context, const ReportRequest& request, Path tree)
      : context_(context), request_(request), tree_(std::move(tree)) {}

  Result<ModelReport> run() {
    TFAOT_TRY(check_named_models(context_.files, request_));
    CheckRequest check = request_.check;
    check.keep = tree_;
    check.command = kCommand;
    TFAOT_ASSIGN(report_.check, check_model(context_, check));
    if (!report_.check.compiles()) return std::move(report_);
    TFAOT_TRY(check_inputs());
    TFAOT_TRY(suggest());
    TFAOT_TRY(validate());
    TFAOT_TRY(profile());
    return std::move(report_);
  }

 private:
  static constexpr const char* kCommand = "tfaot report";

  Result<FoundPackage> package() const { return find_package(context_, load_request()); }
  LoadRequest load_request() const { return {tree_, false, kCommand}; }

  // Users' inputs that do not fit are no open question.
  Status check_inputs() {
    TFAOT_ASSIGN(FoundPackage found, package());
    report_.manifest = std::move(found.manifest);
    if (request_.inputs.empty()) return {};
    TFAOT_TRY(model_inputs(context_.files, input_source(), {report_.manifest.signature.inputs}));
    return {};
  }
  InputSource input_source() const {
    InputSource source;
    source.file = request_.inputs;
    return source;
  }

  // Tunes the package: what comes later then runs as a user's package would.
  Status suggest() {
    TuneRequest tune = request_.tune;
    tune.package = tree_;
    Result<Manifest> tuned = write_tuned_package(context_, tune);
    TFAOT_TRY(check_answer(tuned));
    if (!tuned) {
      report_.suggestion = fail(std::move(tuned).error());
      return {};
    }
    report_.manifest = *std::move(tuned);
    SuggestOptions options;
    options.rows = request_.rows;
    options.candidates.assign(report_.manifest.batch_sizes.begin(),
                              report_.manifest.batch_sizes.end());
    report_.suggestion = suggest_for_package(context_, tree_, options, request_.name);
    return check_answer(report_.suggestion);
  }

  Status validate() {
    ValidateRequest request;
    request.package = load_request();
    request.model = request_.check.path;
    request.inputs = request_.inputs;
    request.engine = request_.check.engine;
    if (report_.check.format == ModelFormat::kOnnx) {
      const auto library = find_library(context_, request_, ProfiledEngine::kOnnxRuntime);
      TFAOT_TRY(check_answer(library));
      if (!library) {
        report_.validation = fail(library.error());
        return {};
      }
      request.library = *library;
    }
    report_.validation = validate_package(context_, request);
    return check_answer(report_.validation);
  }

  Status profile() {
    TFAOT_ASSIGN(const ModelSection model, model_section());
    ProfiledModel profiled{load_request(), request_.name, {}};
    for (const BesideFramework& beside : request_.beside) {
      auto peer = peer_of(context_, request_, beside, model);
      TFAOT_TRY(check_answer(peer));
      if (peer) {
        profiled.peers.push_back(*std::move(peer));
      } else {
        report_.left_out.emplace(beside.engine, std::move(peer).error());
      }
    }
    std::vector<ProfileLeftOut> left_out;
    ProfileRequest request;
    request.models = {std::move(profiled)};
    request.inputs = input_source();
    if (!request_.inputs.empty()) request.inputs_name = request_.inputs_name;
    request.measure = request_.measure;
    request.toolkit_version = request_.toolkit_version;
    request.engine = request_.check.engine;
    request.cache = request_.check.cache;
    request.left_out = &left_out;
    report_.profile = profile_models(context_, request);
    for (ProfileLeftOut& one : left_out) {
      report_.left_out.emplace(one.engine, std::move(one.why));
    }
    return check_answer(report_.profile);
  }

  // Which file the model is, and in which format.
  Result<ModelSection> model_section() const {
    if (report_.check.is_config) {
      TFAOT_ASSIGN(ModelSpec spec,
                   load_model_spec(context_.files, request_.check.path, request_.check.overrides));
      return std::move(spec.model);
    }
    ModelSection model;
    model.format = report_.check.format;
    model.source = request_.check.path;
    return model;
  }

  Context& context_;
  const ReportRequest& request_;
  Path tree_;
  ModelReport report_;
};

}  // namespace

Result<ModelReport> report_model(Context& context, const ReportRequest& request) {
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  return Reporter(context, request, scratch.path() / "package").run();
}

}  // namespace tfaot::toolkit
