// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <string_view>
#include <utility>

#include "scratch_folder.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/base/limits.h"
#include "tfaot/compile/original_predictions.h"

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

// SavedModels and frozen graphs, in TensorFlow's session.
class TensorFlowReference final : public Reference {
 public:
  TensorFlowReference(Context& context, const ModelSpec& spec, CompileOptions options)
      : context_(context), spec_(spec), options_(std::move(options)) {}

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
  const ModelSpec& spec_;
  CompileOptions options_;
};

}  // namespace

Result<std::unique_ptr<Reference>> make_reference(Context& context, const ModelSpec& spec,
                                                  const EngineRun& engine) {
  switch (spec.model.format) {
    case ModelFormat::kSavedModel:
    case ModelFormat::kFrozenGraph:
      break;  // a new format has its own case
  }
  TFAOT_ASSIGN(CompileOptions options, compile_options(context, engine));
  return std::make_unique<TensorFlowReference>(context, spec, std::move(options));
}

}  // namespace tfaot::toolkit
