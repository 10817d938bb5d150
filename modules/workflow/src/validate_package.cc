// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/validate_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "changed_package.h"
#include "reference.h"
#include "tfaot/arrays/compare.h"
#include "tfaot/arrays/fill.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/compile.h"
#include "tfaot/compile/engine_questions.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/config/config.h"
#include "tfaot/inspect/dump_files.h"
#include "tfaot/inspect/input_uses.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/free_tensors.h"
#include "tfaot/records/input_use.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/run_package.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"
#include "validated_model.h"

namespace tfaot::toolkit {
namespace {

// How random inputs of a model should be drawn: the engine lowers the model, and its operations
// show which inputs are masks, paddings or indices. Used by one thread.

// The first stage in which a product with a truth value is a choice, and the last one without calls
// of kernels.
constexpr const char* kStage = "simplified";

// Of each input of the signature, which is the model's. Error: the model cannot be lowered here.
Result<std::vector<InputUse>> find_input_uses(Context& context, const ModelSpec& spec,
                                              const Signature& signature, const EngineRun& engine) {
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  TFAOT_ASSIGN(CompileOptions options, compile_options(context, engine));
  options.work_directory = scratch.path() / "work";
  const Path dump = scratch.path() / "dump";
  options.dump.directory = dump.string();
  for (const Path& folder : {options.work_directory, dump}) {
    TFAOT_TRY(context.files.create_directories(folder));
  }
  ModelSpec one = spec;
  one.compilation.batch_sizes = {spec.compilation.batch_sizes.front()};
  one.compilation.cpu_levels = {spec.compilation.cpu_levels.front()};
  TFAOT_TRY(lower_model(context.files, one, options, context.diagnostics));
  TFAOT_ASSIGN(const auto modules, dumped_modules(context.files, dump));
  HloQuestion question;
  for (const HloFile& file : modules.front().stages) {
    if (file.stage == kStage) question.files.push_back(file);
  }
  TFAOT_ASSIGN(const std::vector<HloGraph> graphs,
               read_hlo(context.files, question, options.engine));
  const std::vector<std::string> names = mapped(signature.inputs, &TensorSpec::name);
  if (graphs.empty()) return std::vector<InputUse>(names.size());
  return input_uses(graphs.front(), names);
}

// The inputs of one kind, and what the model predicts for them. Batches of fewer rows are the first
// ones of it.
struct ReferenceBatch {
  InputKind kind = InputKind::kRandom;
  ModelInputs inputs;
  std::vector<Array> outputs;
};

// At edges right programs may differ; a real number too large for a whole one has no right value.
bool decides(InputKind kind, DType output) {
  const bool is_large = kind == InputKind::kPadding || kind == InputKind::kMillion;
  return kind < InputKind::kLarge && (is_real(output) || !is_large);
}

constexpr double kBlind = 1e-3;      // a move as a share of the largest number
constexpr std::uint64_t kMoves = 4;  // how often the inputs of a batch are moved

class Validator {
 public:
  Validator(Context& context, const ValidateRequest& request, LoadedPackage package)
      : context_(context), request_(request), package_(std::move(package)) {}

  Result<ValidationResult> run() {
    result_.manifest = manifest();
    result_.format = package_.spec.model.format;
    result_.is_saved = !request_.expected.empty();
    if (!result_.is_saved) TFAOT_TRY(find_model());
    TFAOT_TRY(read_inputs());
    TFAOT_TRY(find_levels());
    if (!result_.is_saved) find_uses();
    auto all_sizes = validation_sizes(manifest().dimensions);
    if (!file_.arrays.empty()) all_sizes = {file_.sizes};
    for (const std::vector<std::int64_t>& sizes : all_sizes) TFAOT_TRY(compare_at(sizes));
    if (!all_sizes.front().empty()) TFAOT_TRY(check_some_size());
    summarize();
    return std::move(result_);
  }

 private:
  const Manifest& manifest() const { return package_.model->manifest(); }

  // All batches at these sizes of the free dimensions.
  Status compare_at(const std::vector<std::int64_t>& sizes) {
    sizes_ = sizes;
    named_sizes_ = named_sizes(sized_dimensions(manifest().dimensions), sizes);
    signature_ = sizes.empty() ? manifest().signature : signature_at(manifest().signature, sizes);
    outputs_.clear();
    TFAOT_TRY(find_reference());
    TFAOT_ASSIGN(auto batches, make_batches());
    TFAOT_TRY(ask_reference(batches));
    if (batches.empty()) return {};
    if (!sizes.empty()) result_.summary.sizes.push_back(named_sizes_);
    TFAOT_TRY(run_package(batches));
    if (!result_.is_saved) TFAOT_TRY(allow_moves(batches));
    std::ranges::move(outputs_, std::back_inserter(result_.outputs));
    return {};
  }

  // " at n_pf=37"; empty without free dimensions.
  std::string at_sizes() const {
    return named_sizes_.empty() ? "" : " at " + named_sizes_text(named_sizes_);
  }

  // A model may refuse some sizes, as ONNX Runtime does convolutions over empty axes, but not all.
  Status check_some_size() const {
    const auto is_usual = [](InputKind kind) { return kind <= InputKind::kFile; };
    if (std::ranges::any_of(result_.outputs, is_usual, &ValidatedOutput::inputs)) return {};
    const auto first = std::ranges::find_if(result_.refused, is_usual, &RefusedInputs::inputs);
    return first == result_.refused.end() ? Status() : fail(not_taken(*first));
  }

  Error not_taken(const RefusedInputs& refused) const {
    const bool is_file = refused.inputs == InputKind::kFile;
    const std::string sizes = named_sizes_text(refused.sizes);
    return Error::at({(is_file ? request_.inputs : package_.spec.model.source).string()},
                     fmt::format("the model does not take {} inputs{}{}",
                                 is_file ? "these" : "random", sizes.empty() ? "" : " at ", sizes))
        .note(refused.why)
        .note("give inputs that it takes with --inputs FILE");
  }

  Status find_model() {
    TFAOT_ASSIGN(package_.spec.model, model_source(context_, {request_.model, request_.signature},
                                                   std::move(package_.spec.model)));
    TFAOT_ASSIGN(const std::string sha256,
                 model_sha256(context_.files, package_.spec.model.source));
    result_.is_its_source = sha256 == manifest().source_sha256;
    return {};
  }

  Status read_inputs() {
    if (request_.inputs.empty()) return {};
    TFAOT_ASSIGN(file_, rows_of_file(context_.files, request_.inputs,
                                     {manifest().signature.inputs,
                                      sized_dimensions(manifest().dimensions)}));
    return {};
  }

  Status find_reference() {
    if (result_.is_saved) {
      TFAOT_ASSIGN(reference_,
                   saved_reference(context_.files, request_.expected, signature_, file_.rows));
      return {};
    }
    TFAOT_ASSIGN(reference_, make_reference(context_, {spec_at(package_.spec, sizes_), signature_,
                                                       request_.library, request_.engine}));
    return {};
  }

  // They are the same at all sizes.
  void find_uses() {
    const auto largest = default_sizes(sized_dimensions(manifest().dimensions));
    auto uses = find_input_uses(context_, spec_at(package_.spec, largest), manifest().signature,
                                request_.engine);
    if (uses) {
      uses_ = *std::move(uses);
    } else {
      context_.diagnostics.verbose("nothing is known of the inputs: " + uses.error().message());
    }
  }

  Status find_levels() {
    Validation& summary = result_.summary;
    summary.tolerance = {request_.tolerance.value_or(
                             usual_tolerance(manifest().weights.type, manifest().compute).relative),
                         request_.absolute_tolerance};
    TFAOT_ASSIGN(const LevelsHere levels, levels_here(*package_.model, request_.package.package));
    summary.cpu_levels = levels.run;
    result_.skipped_levels = levels.skipped;
    return {};
  }

  // The inputs of each kind: as many rows as any batch has, or, if rows depend on each other, each
  // batch of its own.
  Result<std::vector<ReferenceBatch>> make_batches() {
    const Signature& signature = signature_;
    std::vector<InputKind> kinds = kinds_of_inputs(signature.inputs);
    const bool is_largest = sizes_ == default_sizes(sized_dimensions(manifest().dimensions));
    if (!request_.edges || result_.is_saved || !is_largest) kinds = {InputKind::kRandom};
    if (!request_.inputs.empty()) kinds.front() = InputKind::kFile;
    batches_ = validation_batches(manifest(), file_.rows);
    std::set<std::int64_t> rows;
    for (const ValidationBatch& batch : batches_) rows.insert(batch.rows);
    result_.summary.rows.assign(rows.begin(), rows.end());
    if (composes_batches(manifest())) rows = {*rows.rbegin()};
    TFAOT_TRY(check_row_count(*rows.rbegin(), signature.inputs));
    TFAOT_TRY(check_row_count(*rows.rbegin(), signature.outputs));
    std::vector<ReferenceBatch> made;
    for (const InputKind kind : kinds) {
      for (const std::int64_t count : rows) {
        std::vector<Array> arrays =
            kind == InputKind::kFile
                ? mapped(file_.arrays, [&](const Array& array) { return repeated(array, count); })
                : edge_arrays(signature.inputs, {kind, count, request_.seed, uses_});
        made.push_back({kind, {count, std::move(arrays), sizes_}, {}});
      }
    }
    return made;
  }

  // Fills in the outputs, and removes the batches that the model refuses.
  Status ask_reference(std::vector<ReferenceBatch>& batches) {
    const auto inputs_of = [](const ReferenceBatch& batch) { return &batch.inputs; };
    TFAOT_ASSIGN(ReferenceAnswers answers, reference_->predict(mapped(batches, inputs_of)));
    const Path& model = package_.spec.model.source;
    TFAOT_TRY(check_same_signature(model, answers.signature, signature_));
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
      result_.refused.push_back({batch.kind, batch.inputs.rows, named_sizes_, refusal});
      const bool is_needed = batch.kind == InputKind::kFile ||
                             (batch.kind == InputKind::kRandom && named_sizes_.empty());
      if (is_needed) return fail(not_taken(result_.refused.back()));
    }
    batches = std::move(accepted);
    if (!batches.empty()) warn_of_no_numbers(batches);
    return {};
  }

  // Predictions that are not numbers agree with any that are not. An output may be left out of a
  // file.
  void warn_of_no_numbers(const std::vector<ReferenceBatch>& batches) {
    for (std::size_t i = 0; i < manifest().signature.outputs.size(); ++i) {
      const DType dtype = manifest().signature.outputs[i].dtype;
      const bool compares = std::ranges::any_of(batches, [&](const ReferenceBatch& batch) {
        return decides(batch.kind, dtype) &&
               (batch.outputs[i].bytes.empty() || has_numbers(batch.outputs[i]));
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
        context_.diagnostics.progress(++done, total,
                                      fmt::format("{}, {} rows{}", level, batch.rows, at_sizes()));
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
        if (reference.outputs[i].bytes.empty() && !(*outputs)[i].bytes.empty()) continue;
        ValidatedOutput compared;
        compared.inputs = reference.kind;
        compared.cpu_level = level;
        compared.rows = batch.rows;
        compared.composition = batch.composition;
        compared.sizes = named_sizes_;
        compare((*outputs)[i], reference.outputs[i], signature_.outputs[i], compared);
        outputs_.push_back(std::move(compared));
      }
    }
    return {};
  }

  void compare(const Array& array, const Array& reference, const TensorSpec& tensor,
               ValidatedOutput& compared) const {
    compared.output = tensor.name;
    compared.difference = compare_arrays(array, reference);
    compared.counts = request_.strict || decides(compared.inputs, tensor.dtype);
    judge(compared, tensor);
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

  void judge(ValidatedOutput& compared, const TensorSpec& tensor) const {
    const Tolerance tolerance = tolerance_for(tensor.dtype, result_.summary.tolerance);
    compared.allowed = allowance(compared.difference, tolerance);
    compared.passed = is_within(compared.difference, tolerance);
  }

  bool is_of(const ValidatedOutput& output, const ReferenceBatch& batch) const {
    return output.inputs == batch.kind &&
           (composes_batches(manifest()) || output.rows == batch.inputs.rows);
  }

  // Where the tolerance is too small, the model decides: it runs again with its inputs moved to
  // their neighbours, and in its optimised form. Each changes no more than a rounding does.
  Status allow_moves(const std::vector<ReferenceBatch>& batches) {
    std::vector<const ReferenceBatch*> doubtful;
    for (const ReferenceBatch& batch : batches) {
      const bool is_doubtful = std::ranges::any_of(outputs_, [&](const auto& one) {
        return !one.passed && one.counts && one.difference.nonfinite == 0 && is_of(one, batch);
      });
      if (is_doubtful) doubtful.push_back(&batch);
    }
    if (doubtful.empty()) return {};
    std::vector<ModelInputs> moved;
    for (std::uint64_t move = 1; move <= kMoves; ++move) {
      for (const ReferenceBatch* batch : doubtful) {
        moved.push_back(
            {batch->inputs.rows, moved_arrays(batch->inputs.arrays, uses_, move), sizes_});
      }
    }
    const auto allow = [&](const ReferenceAnswers& answers) {
      for (std::size_t i = 0; i < answers.answers.size(); ++i) {
        if (!answers.answers[i].refusal.empty()) continue;
        allow_move(*doubtful[i % doubtful.size()], answers.answers[i].outputs);
      }
    };
    TFAOT_ASSIGN(const ReferenceAnswers neighbours,
                 reference_->predict(mapped(moved, [&](const ModelInputs& one) { return &one; })));
    allow(neighbours);
    TFAOT_ASSIGN(const ReferenceAnswers optimized,
                 reference_->predict_optimized(
                     mapped(doubtful, [](const ReferenceBatch* batch) { return &batch->inputs; })));
    allow(optimized);
    warn_of_moves();
    return {};
  }

  // Where a model moves that much, a wrong prediction would pass too.
  void warn_of_moves() {
    std::set<std::pair<std::string, InputKind>> told;
    for (const ValidatedOutput& one : outputs_) {
      const double usual = request_.absolute_tolerance + kBlind * one.difference.scale;
      const bool is_blind = one.counts && one.difference.moved > usual;
      if (!is_blind || !told.emplace(one.output, one.inputs).second) continue;
      context_.diagnostics.warning(fmt::format(
          "output '{}', inputs '{}'{}: the model itself moves by {:.2g} of numbers up to {:.2g} if "
          "it rounds in other places, so these inputs decide little; give your own with --inputs "
          "FILE",
          shown(one.output), word_of(one.inputs), at_sizes(), one.difference.moved,
          one.difference.scale));
    }
  }

  void allow_move(const ReferenceBatch& batch, const std::vector<Array>& moved) {
    const std::vector<TensorSpec>& tensors = manifest().signature.outputs;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!is_real(tensors[i].dtype)) continue;
      const double move = compare_arrays(moved[i], batch.outputs[i]).largest;
      for (ValidatedOutput& one : outputs_) {
        if (one.output != tensors[i].name || !is_of(one, batch)) continue;
        one.difference.moved = std::max(one.difference.moved, move);
        judge(one, tensors[i]);
      }
    }
  }

  // Of each output and kind of inputs the worst.
  void summarize() {
    std::map<std::pair<std::string, InputKind>, std::size_t> places;
    std::vector<ValidatedOutput>& worst = result_.summary.outputs;
    for (const ValidatedOutput& one : result_.outputs) {
      const auto [place, is_new] = places.try_emplace({one.output, one.inputs}, worst.size());
      if (is_new) {
        worst.push_back(one);
      } else if (is_worse(one, worst[place->second])) {
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
  std::vector<InputUse> uses_;  // of each input; empty: unknown
  ModelInputs file_;            // the user's
  // At the sizes in hand; the signature is at these.
  std::vector<std::int64_t> sizes_;
  std::vector<DimensionSize> named_sizes_;
  Signature signature_;
  std::vector<ValidatedOutput> outputs_;
  std::vector<ValidationBatch> batches_;
  ValidationResult result_;
};

}  // namespace

bool ValidationResult::passed() const {
  return std::ranges::all_of(outputs,
                             [](const ValidatedOutput& one) { return one.passed || !one.counts; });
}

Result<ValidationResult> validate_package(Context& context, const ValidateRequest& request) {
  TFAOT_ASSIGN(const FoundPackage found, find_validated(context, request.package, request.record));
  TFAOT_ASSIGN(LoadedPackage package, load_whole_package(context, found));
  TFAOT_ASSIGN(ValidationResult result, Validator(context, request, std::move(package)).run());
  result.path = found.path;
  return result;
}

Status record_validation(Context& context, const ValidateRequest& request,
                         const ValidationResult& result) {
  return record_in_manifest(context, {result.path, result.manifest, request.package.allow_large},
                            [&](Manifest& manifest) { manifest.validation = result.summary; });
}

}  // namespace tfaot::toolkit
