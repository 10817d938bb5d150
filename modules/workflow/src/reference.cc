// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile_inputs.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/engine_questions.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/profile/runner.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/frameworks.h"
#include "tfaot/workflow/work_folder.h"
#include "validated_model.h"

namespace tfaot::toolkit {
namespace {

// Without "{{function_node NAME}} ", which says nothing to the model's author.
std::string plain_message(std::string text) {
  constexpr std::string_view kMark = "{{function_node ";
  for (std::size_t start = text.find(kMark); start != std::string::npos; start = text.find(kMark)) {
    const std::size_t end = text.find("}} ", start);
    if (end == std::string::npos) break;
    text.erase(start, end + 3 - start);
  }
  return text;
}

// SavedModels and frozen graphs, in TensorFlow's session; StableHLO in XLA's interpreter.
class EngineReference final : public Reference {
 public:
  EngineReference(Context& context, ModelSpec spec, CompileOptions options)
      : context_(context), spec_(std::move(spec)), options_(std::move(options)) {}

  Result<ReferenceAnswers> predict(const std::vector<const ModelInputs*>& batches) override {
    TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context_));
    PredictionsRequest request;
    for (const ModelInputs* batch : batches) {
      const Path folder = scratch.path() / std::to_string(request.folders.size());
      TFAOT_TRY(write_inputs(folder, *batch));
      request.folders.push_back(folder);
    }
    options_.work_directory = scratch.path();
    TFAOT_ASSIGN(EngineResult made, original_predictions(context_.files, spec_, request, options_,
                                                         context_.diagnostics));
    ReferenceAnswers answers{std::move(made.model.engine), std::move(made.model.signature), {}};
    for (std::size_t i = 0; i < batches.size(); ++i) {
      ReferenceAnswer answer{plain_message(std::move(made.refusals[i])), {}};
      if (answer.refusal.empty()) {
        TFAOT_ASSIGN(answer.outputs, read_outputs(request.folders[i], answers.signature));
      }
      answers.answers.push_back(std::move(answer));
    }
    return answers;
  }

 private:
  Status write_inputs(const Path& folder, const ModelInputs& batch) {
    TFAOT_TRY(context_.files.create_directories(folder));
    for (std::size_t i = 0; i < batch.arrays.size(); ++i) {
      TFAOT_TRY(context_.files.replace_atomically(
          folder / input_file(i), npy_to_bytes(batch.arrays[i]), Durability::kScratch));
    }
    return {};
  }

  Result<std::vector<Array>> read_outputs(const Path& folder, const Signature& signature) const {
    std::vector<Array> outputs;
    for (const TensorSpec& output : signature.outputs) {
      const Path file = folder / output_file(outputs.size());
      TFAOT_ASSIGN(const std::string bytes, read_limited(context_.files, file, kArraysLimit));
      TFAOT_ASSIGN(Array array, npy_from_bytes(bytes, file.string()));
      array.name = output.name;
      outputs.push_back(std::move(array));
    }
    return outputs;
  }

  Context& context_;
  ModelSpec spec_;
  CompileOptions options_;
};

// ONNX models, in ONNX Runtime: a process for each batch, so that one that ends it is a refusal.
class OnnxRuntimeReference final : public Reference {
 public:
  OnnxRuntimeReference(Context& context, ReferenceRequest request, Path runner)
      : context_(context), request_(std::move(request)), runner_(std::move(runner)) {}

  Result<ReferenceAnswers> predict(const std::vector<const ModelInputs*>& batches) override {
    return predict_by("as_written=1", batches);
  }

  Result<ReferenceAnswers> predict_optimized(
      const std::vector<const ModelInputs*>& batches) override {
    return predict_by("as_written=0", batches);
  }

 private:
  static constexpr const char* kOutputs = "output_";

  Result<ReferenceAnswers> predict_by(const char* form,
                                      const std::vector<const ModelInputs*>& batches) {
    form_ = form;
    TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context_));
    TFAOT_ASSIGN(constants_,
                 constant_settings(context_, request_.spec.model.constants, scratch.path()));
    ReferenceAnswers answers{"onnxruntime", request_.signature, {}};
    for (const ModelInputs* batch : batches) {
      TFAOT_ASSIGN(ReferenceAnswer answer, run(*batch, scratch.path(), answers.program));
      answers.answers.push_back(std::move(answer));
      context_.diagnostics.progress(answers.answers.size(), batches.size(), "ONNX Runtime");
    }
    return answers;
  }

  // The model may fix the only compiled size, so it runs as often as it takes, with rows of zeros
  // at the end.
  Result<ReferenceAnswer> run(const ModelInputs& batch, const Path& scratch, std::string& program) {
    const auto& sizes = request_.spec.compilation.batch_sizes;
    const std::int64_t step = sizes.size() == 1 ? sizes.front() : batch.rows;
    ReferenceAnswer answer;
    for (const TensorSpec& output : request_.signature.outputs) {
      answer.outputs.push_back(make_array(output, batch.rows));
      answer.outputs.back().bytes.clear();
    }
    for (std::int64_t first = 0; first < batch.rows; first += step) {
      const Path folder = scratch / std::to_string(processes_++);
      TFAOT_TRY(context_.files.create_directories(folder));
      TFAOT_ASSIGN(const RunnerSpec spec, runner_spec(batch, {first, step}, folder));
      TFAOT_ASSIGN(const auto runner, start(spec));
      TFAOT_ASSIGN(const std::string version, runner->version());
      program = "onnxruntime " + version;
      if (const auto prepared = runner->prepare(step); !prepared) {
        return ReferenceAnswer{prepared.error().text(), {}};
      }
      TFAOT_TRY(runner->write_outputs(folder / kOutputs));
      TFAOT_TRY(append_outputs(folder, {step, std::min(step, batch.rows - first)}, answer.outputs));
    }
    return answer;
  }

  struct Step {
    std::int64_t first = 0;
    std::int64_t rows = 0;
  };

  // The rows of a step; zeros after the last one.
  static std::string rows_of(const Array& array, const Step& step) {
    const std::size_t row = array.bytes.size() / static_cast<std::size_t>(array.shape.front());
    std::string bytes = array.bytes.substr(static_cast<std::size_t>(step.first) * row,
                                           static_cast<std::size_t>(step.rows) * row);
    bytes.resize(static_cast<std::size_t>(step.rows) * row);
    return bytes;
  }

  Result<RunnerSpec> runner_spec(const ModelInputs& batch, const Step& step,
                                 const Path& folder) const {
    RunnerSpec spec;
    spec.program = runner_;
    spec.timeout = engine_time(context_);
    spec.memory = engine_memory(context_);
    spec.settings = {"engine=onnxruntime",
                     "first=0",
                     form_,
                     "model=" + request_.spec.model.source.string(),
                     "library=" + request_.library.string(),
                     std::string("batch=") + word_of(request_.spec.compilation.batch)};
    for (std::size_t i = 0; i < batch.arrays.size(); ++i) {
      const Path file = folder / fmt::format("input_{}", i);
      TFAOT_TRY(context_.files.replace_atomically(file, rows_of(batch.arrays[i], step),
                                                  Durability::kScratch));
      spec.settings.push_back("input=" + tensor_setting(request_.signature.inputs[i]));
      spec.settings.push_back("input_file=" + file.string());
    }
    for (const TensorSpec& output : request_.signature.outputs) {
      spec.settings.push_back("output=" + tensor_setting(output));
    }
    spec.settings.insert(spec.settings.end(), constants_.begin(), constants_.end());
    return spec;
  }

  Result<std::unique_ptr<RunnerProcess>> start(const RunnerSpec& spec) const {
    auto runner = RunnerProcess::start(context_.files, spec);
    if (runner) return runner;
    TFAOT_TRY(check_names());
    return fail(
        Error::at({request_.spec.model.source.string()}, "ONNX Runtime cannot load the model")
            .note(runner.error().text()));
  }

  // A model that cannot be described says nothing about its names.
  Status check_names() const {
    const Path& source = request_.spec.model.source;
    TFAOT_ASSIGN(const EngineProgram engine, find_engine(context_, request_.engine.engine));
    const auto model = describe_model(context_.files, source, engine);
    if (!model) return {};
    return check_same_names(source, model->signatures.front(), request_.signature);
  }

  struct Rows {
    std::int64_t made = 0;
    std::int64_t wanted = 0;  // the first of them
  };

  Status append_outputs(const Path& folder, const Rows& rows, std::vector<Array>& outputs) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const TensorSpec& tensor = request_.signature.outputs[i];
      const Path file = folder / fmt::format("{}{}", kOutputs, i);
      TFAOT_ASSIGN(const std::string bytes, read_limited(context_.files, file, kArraysLimit));
      const std::size_t row = row_elements(tensor) * size_of(tensor.dtype);
      if (bytes.size() != static_cast<std::size_t>(rows.made) * row) {
        return fail(Error::internal(fmt::format("{} has another size", file.string())));
      }
      outputs[i].bytes.append(bytes, 0, static_cast<std::size_t>(rows.wanted) * row);
    }
    return {};
  }

  Context& context_;
  ReferenceRequest request_;
  Path runner_;
  std::string form_;                    // of the model; a setting of the runner
  std::vector<std::string> constants_;  // settings of the runner
  std::size_t processes_ = 0;
};

Result<Path> onnx_runtime_library(const Context& context, const Path& library) {
  if (library.empty()) {
    return find_framework(context, ProfiledEngine::kOnnxRuntime, "--library FILE.so");
  }
  if (is_file(context.files, library)) return library;
  return fail(Error::at({library.string()}, "no such file").note("named by --library"));
}

class SavedReference final : public Reference {
 public:
  SavedReference(std::string program, Signature signature, std::vector<Array> outputs)
      : answers_{std::move(program), std::move(signature), {}}, outputs_(std::move(outputs)) {}

  Result<ReferenceAnswers> predict(const std::vector<const ModelInputs*>& batches) override {
    ReferenceAnswers answers = answers_;
    for (const ModelInputs* batch : batches) {
      ReferenceAnswer& answer = answers.answers.emplace_back();
      for (const Array& output : outputs_) answer.outputs.push_back(repeated(output, batch->rows));
    }
    return answers;
  }

 private:
  ReferenceAnswers answers_;  // none yet
  std::vector<Array> outputs_;
};

// Gives the array of a .npy the output's name. Error: not every array is an output.
Status name_outputs(std::vector<Array>& arrays, const std::vector<TensorSpec>& outputs,
                    const std::string& where) {
  if (arrays.empty()) return fail(Error::at({where}, "the file holds no array"));
  if (arrays.size() == 1 && arrays.front().name.empty()) {
    if (outputs.size() != 1) {
      return fail(Error::at({where}, fmt::format("a .npy holds one array, and the package has {} "
                                                 "outputs",
                                                 outputs.size()))
                      .note("write a .npz: numpy.savez(file, **{name: array, ...})"));
    }
    arrays.front().name = outputs.front().name;
  }
  const std::vector<std::string> names =
      mapped(outputs, [](const TensorSpec& output) { return shown(output.name); });
  for (const Array& array : arrays) {
    if (contains(outputs, array.name, &TensorSpec::name)) continue;
    return fail(Error::at({where}, fmt::format("no output '{}'{}", shown(array.name),
                                               guess(array.name, names)))
                    .note("outputs: " + join(names, ", ")));
  }
  return {};
}

Result<Array> as_output(Array array, const TensorSpec& output, std::int64_t rows,
                        const std::string& where) {
  array.name = output.name;
  const std::int64_t there = array.shape.empty() ? 0 : array.shape.front();
  if (there != rows) {
    return fail(Error::at({where}, fmt::format("output '{}' has {} rows, and the inputs have {}",
                                               shown(output.name), there, rows)));
  }
  const Array wanted = make_array(output, rows);
  if (is_real(array.dtype) && is_real(output.dtype)) array = rounded_to(array, output.dtype);
  if (array.dtype != output.dtype) {
    return fail(Error::at({where}, fmt::format("output '{}' is {} in the file, {} in the package",
                                               shown(output.name), word_of(array.dtype),
                                               word_of(output.dtype)))
                    .note(fmt::format("convert it: a.astype('{}')", word_of(output.dtype))));
  }
  if (array.bytes.size() != wanted.bytes.size()) {
    return fail(Error::at({where}, fmt::format("output '{}' has the shape {} in the file, {} in "
                                               "the package",
                                               shown(output.name), array_shape_text(array.shape),
                                               array_shape_text(wanted.shape))));
  }
  array.shape = wanted.shape;
  return array;
}

}  // namespace

Result<std::unique_ptr<Reference>> make_reference(Context& context, ReferenceRequest request) {
  if (request.spec.model.format == ModelFormat::kOnnx) {
    TFAOT_ASSIGN(request.library, onnx_runtime_library(context, request.library));
    TFAOT_TRY(check_model_files(context.files, request.spec.model.source));
    TFAOT_ASSIGN(Path runner, find_runner(context));
    return std::make_unique<OnnxRuntimeReference>(context, std::move(request), std::move(runner));
  }
  if (!request.library.empty()) {
    return fail(Error::usage(
        fmt::format("validate: --library is for ONNX models, and this is {}: TensorFlow runs it",
                    one_of(request.spec.model.format))));
  }
  TFAOT_ASSIGN(CompileOptions options, compile_options(context, request.engine));
  return std::make_unique<EngineReference>(context, std::move(request.spec), std::move(options));
}

Result<std::unique_ptr<Reference>> saved_reference(const FileSystem& files, const Path& file,
                                                   const Signature& signature, std::int64_t rows) {
  TFAOT_ASSIGN(std::vector<Array> arrays, read_outputs(files, file, signature.outputs));
  TFAOT_TRY(name_outputs(arrays, signature.outputs, file.string()));
  std::vector<Array> outputs;
  for (const TensorSpec& output : signature.outputs) {
    const auto found = std::ranges::find(arrays, output.name, &Array::name);
    if (found == arrays.end()) {
      outputs.push_back(make_array({output.name, output.dtype, {0}}, 1));
      continue;
    }
    TFAOT_ASSIGN(Array array, as_output(std::move(*found), output, rows, file.string()));
    outputs.push_back(std::move(array));
  }
  return std::make_unique<SavedReference>(file.filename().string(), signature, std::move(outputs));
}

}  // namespace tfaot::toolkit
