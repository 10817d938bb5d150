// SPDX-License-Identifier: Apache-2.0
#include "profile_inputs.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "tfaot/arrays/array.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/base/text.h"
#include "tfaot/records/free_tensors.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/workflow/run_package.h"

namespace tfaot::toolkit {
namespace {

// Rows of a file come again and again until there are enough.
Result<ModelInputs> enough_inputs(const FileSystem& files, const RunnerRows& wanted,
                                  const std::vector<TensorSpec>& tensors) {
  InputSource source = wanted.inputs;
  if (source.file.empty()) source.rows = wanted.most;
  TFAOT_TRY(check_row_count(wanted.most, tensors));
  TFAOT_ASSIGN(ModelInputs inputs, model_inputs(files, source, {tensors, wanted.dimensions}));
  if (inputs.rows == 0) {
    return fail(Error::at({source.file.string()}, "the file has no rows"));
  }
  for (Array& array : inputs.arrays) array = repeated(array, wanted.most);
  inputs.rows = wanted.most;
  return inputs;
}

Status write_scratch(FileSystem& files, const Path& file, const std::string& bytes) {
  return files.replace_atomically(file, bytes, Durability::kScratch);
}

// Nothing if not all values are numbers of the type.
std::optional<std::string> values_as(DType dtype, const ModelConstant& constant) {
  std::string bytes;
  for (const std::string& value : constant.values) {
    const bool is_truth = value == "true" || value == "false";
    const std::string number = is_truth ? (value == "true" ? "1" : "0") : value;
    if (!append_number(bytes, dtype, number)) return std::nullopt;
  }
  return bytes;
}

}  // namespace

std::string tensor_setting(const TensorSpec& tensor) {
  const std::string sizes = fmt::format("{}", fmt::join(tensor.row_shape, ","));
  return fmt::format("{} {} {}", word_of(tensor.dtype), sizes.empty() ? "-" : sizes, tensor.name);
}

Result<RunnerFiles> write_runner_files(Context& context,
                                       const std::shared_ptr<const LoadedModel>& model,
                                       const RunnerRows& wanted, const Path& folder,
                                       Predictions predictions) {
  FileSystem& files = context.files;
  RunnerFiles written;
  const Path manifest = folder / "manifest.json";
  TFAOT_TRY(write_scratch(files, manifest, manifest_to_json(model->manifest())));
  CompiledModel tables = model->compiled();
  tables.hlo_text.clear();  // a plugin has none either
  const Path record = folder / "record.json";
  TFAOT_TRY(write_scratch(files, record, compiled_model_to_json(tables)));
  written.package = {"library=" + model->file().string(), "manifest=" + manifest.string(),
                     "record=" + record.string()};

  Signature signature = model->manifest().signature;
  TFAOT_ASSIGN(const ModelInputs rows, enough_inputs(files, wanted, signature.inputs));
  if (!rows.sizes.empty()) {
    signature = signature_at(std::move(signature), rows.sizes);
    written.sizes = named_sizes(wanted.dimensions, rows.sizes);
    written.package.push_back(fmt::format("sizes={}", fmt::join(rows.sizes, ",")));
  }
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const Path file = folder / fmt::format("input_{}", i);
    TFAOT_TRY(write_scratch(files, file, rows.arrays[i].bytes));
    written.tensors.push_back("input=" + tensor_setting(signature.inputs[i]));
    written.tensors.push_back("input_file=" + file.string());
  }
  for (const TensorSpec& output : signature.outputs) {
    written.tensors.push_back("output=" + tensor_setting(output));
  }
  // Of coupled rows, the first predictions of a large batch are not those of a small one.
  const bool coupled = model->manifest().rows == RowsMode::kCoupled;
  if (coupled || predictions == Predictions::kNone) return written;
  TFAOT_TRY(check_row_count(wanted.most, signature.outputs));
  TFAOT_ASSIGN(Predictor predictor, Predictor::create(model, {}));
  TFAOT_ASSIGN(const std::vector<Array> outputs, predict(predictor, rows));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Path file = folder / fmt::format("output_{}", i);
    TFAOT_TRY(write_scratch(files, file, outputs[i].bytes));
    written.predicted.push_back("expected_file=" + file.string());
  }
  return written;
}

Result<std::vector<std::string>> constant_settings(Context& context,
                                                   const std::vector<ModelConstant>& constants,
                                                   const Path& folder) {
  std::vector<std::string> settings;
  for (const ModelConstant& constant : constants) {
    auto dtype = DType::kInt64;
    auto bytes = values_as(dtype, constant);
    if (!bytes) bytes = values_as(dtype = DType::kFloat64, constant);
    if (!bytes) {
      return fail(Error(
          fmt::format("model.constants: '{}' has values that are no numbers", constant.name)));
    }
    const Path file = folder / fmt::format("constant_{}", settings.size() / 2);
    TFAOT_TRY(context.files.replace_atomically(file, *bytes, Durability::kScratch));
    settings.push_back("constant=" + tensor_setting({constant.name, dtype, constant.shape}));
    settings.push_back("constant_file=" + file.string());
  }
  return settings;
}

}  // namespace tfaot::toolkit
