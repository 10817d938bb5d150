// SPDX-License-Identifier: Apache-2.0
#include "front/load_model.h"

#include "compiler/hlo/conversions.h"
#include "front/graph/graph_source.h"
#include "front/lowering/signature.h"
#include "front/onnx/onnx_source.h"
#include "front/stablehlo/stablehlo_source.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/records/model_files.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// The functions that read models of one format.
struct FormatReader {
  Result<ModelFunctions> (*functions)(const std::string& source) = frozen_graph_functions;
  Result<std::unique_ptr<SourceModel>> (*load)(const JobModel& job) = load_graph_source;
  Result<std::unique_ptr<OriginalProgram>> (*original)(
      const JobModel& job, std::int64_t batch_size) = load_session_program;
};
FormatReader reader_of(ModelFormat format) {
  switch (format) {
    case ModelFormat::kOnnx:
      return {onnx_functions, load_onnx_source};
    case ModelFormat::kStableHlo:
      return {stablehlo_functions, load_stablehlo_source, load_interpreted_program};
    case ModelFormat::kSavedModel:
      return {saved_model_functions};
    case ModelFormat::kFrozenGraph:
      break;
  }
  return {};
}

// `rows` rows from `first` on, padded with zeros after the last one. With fixed shapes the tensor
// has no row dimension.
tf::Tensor rows_of(const Array& array, std::int64_t first, std::int64_t rows, bool fixed_shapes) {
  tf::TensorShape shape;
  for (const std::int64_t size : array.shape) shape.AddDim(size);
  shape.set_dim(0, rows);
  if (fixed_shapes) shape.RemoveDim(0);
  tf::Tensor tensor(tensorflow_type(array.dtype), shape);
  const std::size_t row_bytes = array.bytes.size() / static_cast<std::size_t>(array.shape.front());
  auto* const to = static_cast<char*>(tensor.data());
  const auto there = static_cast<std::size_t>(std::min(rows, array.shape.front() - first));
  if (tensor.TotalBytes() == 0) return tensor;
  std::memset(to, 0, tensor.TotalBytes());
  std::memcpy(to, array.bytes.data() + static_cast<std::size_t>(first) * row_bytes,
              there * row_bytes);
  return tensor;
}

// Appends the first `rows` rows of the tensor. Error: it does not have the output's type or shape.
Status append_rows(Array& array, const tf::Tensor& tensor, const TensorSpec& output,
                   std::int64_t rows, bool fixed_shapes) {
  const auto type = dtype_of(tensor.dtype());
  const std::size_t wanted = row_elements(output) * size_of(output.dtype);
  const std::int64_t there = fixed_shapes ? 1 : tensor.dims() == 0 ? 0 : tensor.dim_size(0);
  if (type != output.dtype || there < rows ||
      tensor.TotalBytes() != wanted * static_cast<std::size_t>(there)) {
    return fail(Error(fmt::format("output '{}' of the original model has the shape {}", output.name,
                                  tensor.shape().DebugString())));
  }
  array.bytes.append(static_cast<const char*>(tensor.data()),
                     wanted * static_cast<std::size_t>(rows));
  return {};
}

// Runs the program on the inputs in the folder, and writes the outputs there. A program with a
// fixed number of rows is run repeatedly; the last batch is padded with zeros. With fixed shapes
// there is no batch: one row is all of the tensors.
Status predict(OriginalProgram& program, bool fixed_shapes, FileSystem& fs, const Path& folder,
               std::chrono::seconds limit) {
  std::vector<Array> inputs;
  const Signature& signature = program.signature();
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const Path file = folder / input_file(i);
    TFAOT_ASSIGN(const std::string bytes, fs.read(file));
    TFAOT_ASSIGN(Array array, npy_from_bytes(bytes, file.string()));
    inputs.push_back(std::move(array));
  }
  const std::int64_t rows = inputs.empty() ? 1 : inputs.front().shape.front();
  const std::int64_t step = program.fixed_rows() > 0 ? program.fixed_rows() : rows;
  std::vector<Array> outputs;
  for (const TensorSpec& output : signature.outputs) outputs.push_back(make_array(output, rows));
  for (Array& output : outputs) output.bytes.clear();
  for (std::int64_t first = 0; first < rows; first += step) {
    const auto fed = mapped(
        inputs, [&](const Array& input) { return rows_of(input, first, step, fixed_shapes); });
    TFAOT_ASSIGN(const auto made, program.run(fed, limit));
    for (std::size_t i = 0; i < made.size(); ++i) {
      TFAOT_TRY(append_rows(outputs[i], made[i], signature.outputs[i], std::min(step, rows - first),
                            fixed_shapes));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    TFAOT_TRY(fs.replace_atomically(folder / output_file(i), npy_to_bytes(outputs[i]),
                                    Durability::kScratch));
  }
  return {};
}

}  // namespace

Result<ModelFunctions> find_functions(const std::string& source) {
  const bool is_folder = std::filesystem::is_directory(source);
  const auto of_file = format_of_file(source).value_or(ModelFormat::kFrozenGraph);
  return reader_of(is_folder ? ModelFormat::kSavedModel : of_file).functions(source);
}

Result<std::unique_ptr<SourceModel>> load_model(const JobModel& job) {
  TFAOT_ASSIGN(auto model, reader_of(job.format).load(job));
  TFAOT_TRY(check_signature_limits(job, *model));
  return model;
}

Result<EngineResult> predict_as_original(FileSystem& fs, const PredictJob& job,
                                         const std::function<void(const std::string&)>& on_step) {
  TFAOT_ASSIGN(auto program, reader_of(job.model.format).original(job.model, job.batch_size));
  EngineResult result;
  result.model.engine = program->name();
  result.model.signature = program->signature();
  std::chrono::seconds limit{0};  // none
  for (const std::string& folder : job.folders) {
    const auto start = std::chrono::steady_clock::now();
    const Status made = predict(*program, job.model.fixed_shapes, fs, folder, limit);
    if (limit.count() == 0) {
      const auto took = std::chrono::steady_clock::now() - start;
      limit = std::max(std::chrono::seconds(job.seconds),
                       std::chrono::duration_cast<std::chrono::seconds>(100 * took));
    }
    result.refusals.push_back(made ? "" : made.error().message());
    on_step(fmt::format("{}, inputs {}", result.model.engine, Path(folder).filename().string()));
  }
  return result;
}

}  // namespace tfaot::toolkit::engine
