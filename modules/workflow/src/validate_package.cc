// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/validate_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "changed_package.h"
#include "output_checks.h"
#include "reference.h"
#include "tfaot/arrays/compare.h"
#include "tfaot/arrays/edge_inputs.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/config/config.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/run_package.h"
#include "validation_batches.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kInsteadOfInstalled =
    "validate the archive it was installed from, with --record, and install that";

// The inputs of one kind, and what the model predicts for them. Batches of fewer rows are the first
// ones of it.
struct ReferenceBatch {
  InputKind kind = InputKind::kRandom;
  ModelInputs inputs;
  std::vector<Array> outputs;
};

bool decides(InputKind kind) {
  return kind == InputKind::kFile || kind == InputKind::kRandom || kind == InputKind::kZeros ||
         kind == InputKind::kOnes;
}

// `rows` rows: the array's, again and again.
Array repeated(const Array& array, std::int64_t rows) {
  Array more = array;
  const auto there = static_cast<std::size_t>(array.shape.front());
  const std::size_t row_bytes = array.bytes.size() / there;
  more.shape.front() = rows;
  more.bytes.resize(static_cast<std::size_t>(rows) * row_bytes);
  for (std::size_t row = there; row < static_cast<std::size_t>(rows); ++row) {
    more.bytes.replace(row * row_bytes, row_bytes, array.bytes, row % there * row_bytes, row_bytes);
  }
  return more;
}

// Where the model is that the user named, in the package's format.
Result<ModelSection> model_source(const Context& context, const ValidateRequest& request,
                                  ModelSection model) {
  const FileSystem& files = context.files;
  model.source = request.model;
  std::optional<ModelFormat> found = model_format(files, request.model);
  if (is_file(files, request.model) && is_config(request.model)) {
    TFAOT_ASSIGN(const ModelSpec spec, load_model_spec(files, request.model));
    model.source = spec.model.source;
    found = spec.model.format;
  }
  if (!found) {
    return fail(
        wrong_input(files, request.model,
                    {"--model takes " + model_kinds() + ", or a config that names one", ""}));
  }
  if (*found != model.format) {
    return fail(Error::at({model.source.string()},
                          fmt::format("this is {}, and the package was compiled from {}",
                                      one_of(*found), one_of(model.format)))
                    .note("name the model that the package was compiled from"));
  }
  if (!request.signature.empty()) {
    if (*found != ModelFormat::kSavedModel) {
      return fail(
          Error::usage(fmt::format("--signature is for SavedModels: {} has none", one_of(*found))));
    }
    model.serving_key = request.signature;
  }
  return model;
}

std::string tensor_text(const TensorSpec& tensor) {
  return fmt::format("{} [{}{}{}]", word_of(tensor.dtype), "batch",
                     tensor.row_shape.empty() ? "" : ", ", fmt::join(tensor.row_shape, ", "));
}

void add_tensor_differences(Error& error, const std::string& role,
                            const std::vector<TensorSpec>& model,
                            const std::vector<TensorSpec>& package) {
  const auto text_in = [](const std::vector<TensorSpec>& tensors, const std::string& name) {
    const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
    return found == tensors.end() ? std::string("missing") : tensor_text(*found);
  };
  std::vector<std::string> names;
  for (const auto* tensors : {&package, &model}) {
    for (const TensorSpec& tensor : *tensors) {
      if (std::ranges::find(names, tensor.name) == names.end()) names.push_back(tensor.name);
    }
  }
  for (const std::string& name : names) {
    const std::string in_model = text_in(model, name);
    const std::string in_package = text_in(package, name);
    if (in_model == in_package) continue;
    error.note(fmt::format("{} '{}': {} in the model, {} in the package", role, shown(name),
                           in_model, in_package));
  }
}

Status check_same_signature(const Path& model, const Signature& found, const Signature& package) {
  Error error =
      Error::at({model.string()}, "the model has other inputs or outputs than the package");
  add_tensor_differences(error, "input", found.inputs, package.inputs);
  add_tensor_differences(error, "output", found.outputs, package.outputs);
  if (error.notes().empty()) return {};
  return fail(std::move(error).note("name the model that the package was compiled from"));
}

class Validator {
 public:
  Validator(Context& context, const ValidateRequest& request, LoadedPackage package)
      : context_(context), request_(request), package_(std::move(package)) {}

  Result<ValidationResult> run() {
    TFAOT_ASSIGN(package_.spec.model,
                 model_source(context_, request_, std::move(package_.spec.model)));
    result_.manifest = manifest();
    result_.format = package_.spec.model.format;
    TFAOT_ASSIGN(reference_, make_reference(context_, {package_.spec, manifest().signature,
                                                       request_.library, request_.engine}));
    TFAOT_TRY(find_levels());
    TFAOT_ASSIGN(auto batches, make_batches());
    TFAOT_TRY(ask_reference(batches));
    TFAOT_TRY(run_package(batches));
    TFAOT_ASSIGN(const std::string sha256,
                 model_sha256(context_.files, package_.spec.model.source));
    result_.is_its_source = sha256 == manifest().source_sha256;
    summarize();
    return std::move(result_);
  }

 private:
  const Manifest& manifest() const { return package_.model->manifest(); }

  Status find_levels() {
    Validation& summary = result_.summary;
    summary.tolerance = {
        request_.tolerance.value_or(usual_tolerance(manifest().weights_type).relative),
        request_.absolute_tolerance};
    summary.cpu_levels = runnable_levels(*package_.model);
    for (const std::string& level : manifest().cpu_levels) {
      if (std::ranges::find(summary.cpu_levels, level) == summary.cpu_levels.end()) {
        result_.skipped_levels.push_back(level);
      }
    }
    if (!summary.cpu_levels.empty()) return {};
    return fail(Error::at({request_.package.package.string()},
                          "this CPU can run none of the package's code")
                    .note("compiled levels: " + join(manifest().cpu_levels, ", ")));
  }

  // The inputs of each kind: as many rows as any batch has, or, if rows depend on each other, each
  // batch of its own.
  Result<std::vector<ReferenceBatch>> make_batches() {
    const Signature& signature = manifest().signature;
    std::vector<InputKind> kinds = kinds_of_inputs(signature.inputs);
    if (!request_.edges) kinds = {InputKind::kRandom};
    ModelInputs file;
    if (!request_.inputs.empty()) {
      InputSource source;
      source.file = request_.inputs;
      TFAOT_ASSIGN(file, model_inputs(context_.files, source, signature.inputs));
      if (file.rows == 0)
        return fail(Error::at({request_.inputs.string()}, "the file has no rows"));
      kinds.front() = InputKind::kFile;
    }
    batches_ = validation_batches(manifest(), file.rows);
    std::set<std::int64_t> rows;
    for (const ValidationBatch& batch : batches_) rows.insert(batch.rows);
    result_.summary.rows.assign(rows.begin(), rows.end());
    if (composes_batches(manifest())) rows = {*rows.rbegin()};
    TFAOT_TRY(check_row_count(*rows.rbegin(), signature.inputs));
    TFAOT_TRY(check_row_count(*rows.rbegin(), signature.outputs));
    std::vector<ReferenceBatch> made;
    for (const InputKind kind : kinds) {
      for (const std::int64_t count : rows) {
        ReferenceBatch batch{kind, {count, {}}, {}};
        if (kind == InputKind::kFile) {
          for (const Array& array : file.arrays) {
            batch.inputs.arrays.push_back(repeated(array, count));
          }
        } else {
          batch.inputs.arrays =
              edge_arrays(signature.inputs, {.kind = kind, .rows = count, .seed = request_.seed});
        }
        made.push_back(std::move(batch));
      }
    }
    return made;
  }

  // Fills in the outputs, and removes the batches that the model refuses.
  Status ask_reference(std::vector<ReferenceBatch>& batches) {
    std::vector<const ModelInputs*> inputs;
    for (const ReferenceBatch& batch : batches) inputs.push_back(&batch.inputs);
    TFAOT_ASSIGN(ReferenceAnswers answers, reference_->predict(inputs));
    const Path& model = package_.spec.model.source;
    TFAOT_TRY(check_same_signature(model, answers.signature, manifest().signature));
    result_.summary.reference = answers.program;
    std::vector<ReferenceBatch> accepted;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      ReferenceBatch& batch = batches[i];
      const std::string& refusal = answers.answers[i].refusal;
      if (refusal.empty()) {
        batch.outputs = std::move(answers.answers[i].outputs);
        accepted.push_back(std::move(batch));
        continue;
      }
      if (batch.kind == InputKind::kFile || batch.kind == InputKind::kRandom) {
        return fail(
            Error::at({batch.kind == InputKind::kFile ? request_.inputs.string() : model.string()},
                      fmt::format("the model does not take {} inputs",
                                  batch.kind == InputKind::kFile ? "these" : "random"))
                .note(refusal)
                .note("give inputs that it takes with --inputs FILE"));
      }
      result_.refused.push_back({batch.kind, batch.inputs.rows, refusal});
    }
    batches = std::move(accepted);
    warn_of_no_numbers(batches);
    return {};
  }

  // Any prediction that is not a number either agrees with them.
  void warn_of_no_numbers(const std::vector<ReferenceBatch>& batches) {
    for (std::size_t i = 0; i < manifest().signature.outputs.size(); ++i) {
      const bool compares = std::ranges::any_of(batches, [i](const ReferenceBatch& batch) {
        return decides(batch.kind) && has_numbers(batch.outputs[i]);
      });
      if (compares) continue;
      context_.diagnostics.warning(fmt::format(
          "output '{}': no number was compared, for the model predicts nan or infinity everywhere; "
          "give other inputs with --inputs FILE",
          shown(manifest().signature.outputs[i].name)));
    }
  }

  Status run_package(std::vector<ReferenceBatch>& batches) {
    const std::size_t total = result_.summary.cpu_levels.size() * batches_.size();
    std::size_t done = 0;
    for (const std::string& level : result_.summary.cpu_levels) {
      for (const ValidationBatch& batch : batches_) {
        TFAOT_TRY(run_batch(level, batch, batches));
        context_.diagnostics.progress(++done, total, fmt::format("{}, {} rows", level, batch.rows));
      }
    }
    return {};
  }

  Status run_batch(const std::string& level, const ValidationBatch& batch,
                   std::vector<ReferenceBatch>& references) {
    PredictorOptions options{.cpu_level = level, .batch_rules = {}};
    if (!batch.rule.empty()) options.batch_rules.push_back(batch.rule);
    TFAOT_ASSIGN(Predictor predictor, Predictor::create(package_.model, options));
    const bool alone = composes_batches(manifest());
    for (ReferenceBatch& reference : references) {
      if (!alone && reference.inputs.rows != batch.rows) continue;
      const std::int64_t rows = std::exchange(reference.inputs.rows, batch.rows);
      const auto outputs = predict(predictor, reference.inputs);
      reference.inputs.rows = rows;
      TFAOT_TRY(outputs);
      for (std::size_t i = 0; i < outputs->size(); ++i) {
        ValidatedOutput compared;
        compared.inputs = reference.kind;
        compared.cpu_level = level;
        compared.rows = batch.rows;
        compared.composition = batch.composition;
        compare((*outputs)[i], reference.outputs[i], manifest().signature.outputs[i], compared);
        result_.outputs.push_back(std::move(compared));
      }
    }
    return {};
  }

  void compare(const Array& array, const Array& reference, const TensorSpec& tensor,
               ValidatedOutput& compared) const {
    compared.output = tensor.name;
    compared.difference = compare_arrays(array, reference);
    compared.counts = request_.strict || decides(compared.inputs);
    compared.passed = is_within(compared.difference, tolerance_of(tensor));
    const std::uint64_t row = std::max<std::uint64_t>(row_elements(tensor), 1);
    compared.row = static_cast<std::int64_t>(compared.difference.place / row);
    auto rest = static_cast<std::int64_t>(compared.difference.place % row);
    compared.index.resize(tensor.row_shape.size());
    for (std::size_t i = tensor.row_shape.size(); i-- > 0;) {
      if (tensor.row_shape[i] == 0) continue;
      compared.index[i] = rest % tensor.row_shape[i];
      rest /= tensor.row_shape[i];
    }
  }

  Tolerance tolerance_of(const TensorSpec& tensor) const {
    return tolerance_for(tensor.dtype, result_.summary.tolerance);
  }

  // Of each output and kind of inputs the worst.
  void summarize() {
    std::map<std::pair<std::string, InputKind>, std::size_t> places;
    std::vector<ValidatedOutput>& worst = result_.summary.outputs;
    for (const ValidatedOutput& one : result_.outputs) {
      const auto [place, is_new] = places.try_emplace({one.output, one.inputs}, worst.size());
      if (is_new) {
        worst.push_back(one);
      } else if (is_worse(one.difference, worst[place->second].difference,
                          result_.summary.tolerance)) {
        worst[place->second] = one;
      }
    }
    const auto& outputs = manifest().signature.outputs;
    std::ranges::stable_sort(worst, {}, [&](const ValidatedOutput& one) {
      return std::ranges::find(outputs, one.output, &TensorSpec::name) - outputs.begin();
    });
  }

  Context& context_;
  const ValidateRequest& request_;
  LoadedPackage package_;
  std::unique_ptr<Reference> reference_;
  std::vector<ValidationBatch> batches_;
  ValidationResult result_;
};

}  // namespace

bool ValidationResult::passed() const {
  return std::ranges::all_of(outputs,
                             [](const ValidatedOutput& one) { return one.passed || !one.counts; });
}

Result<ValidationResult> validate_package(Context& context, const ValidateRequest& request) {
  TFAOT_ASSIGN(const FoundPackage found, find_package(context, request.package));
  if (request.record && !found.is_archive) {
    TFAOT_TRY(check_not_installed(context.files, found.path, kInsteadOfInstalled));
  }
  TFAOT_ASSIGN(LoadedPackage package, load_whole_package(context, found));
  TFAOT_ASSIGN(ValidationResult result, Validator(context, request, std::move(package)).run());
  result.path = found.path;
  return result;
}

Status record_validation(Context& context, const ValidateRequest& request,
                         const ValidationResult& result) {
  const auto record = [&](Manifest manifest, const Path&, const Path&) -> Result<ChangedContents> {
    if (manifest_to_json(manifest) != manifest_to_json(result.manifest)) {
      return fail(Error::at({result.path.string()}, "the package changed while it was validated")
                      .note("validate it again"));
    }
    manifest.validation = result.summary;
    return ChangedContents{std::move(manifest), {}};
  };
  TFAOT_ASSIGN(const Manifest written, change_package(context,
                                                      {.package = result.path,
                                                       .output = {},
                                                       .allow_large = request.package.allow_large,
                                                       .instead = kInsteadOfInstalled},
                                                      record));
  static_cast<void>(written);
  return {};
}

}  // namespace tfaot::toolkit
