// SPDX-License-Identifier: Apache-2.0
// A model as read from disk, in any format, and the program that runs it unchanged. Used by one
// thread.
//
// The conditions for compiling a signature, in any format: dtypes, known shapes, the batch as the
// first dimension, the limits of base/limits.h, open sizes, which the config sets by the model's
// own name or "input:axis", and the config's model.constants. Errors caused by the config name its
// key ("model.outputs[0]"); the compile room finds the line. Pure functions.
//
// The parts of lowering that all formats share: parameters, calls of functions compiled by
// TensorFlow's XlaCompiler, results. Used by one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "compiler/hlo/constant_calls.h"
#include "compiler/hlo/lowering.h"
#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tensorflow/core/framework/tensor.h"
#include "tfaot/base/text.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_description.h"
#include "xla/client/xla_builder.h"

namespace tfaot::toolkit::engine {

class OriginalProgram {
 public:
  virtual ~OriginalProgram() = default;

  // With its version: "tensorflow 2.18.1".
  virtual std::string name() const = 0;
  const Signature& signature() const { return signature_; }
  // The only number of rows that it runs; 0: any number.
  std::int64_t fixed_rows() const { return fixed_rows_; }
  // Inputs and outputs are in the model's order; with fixed shapes they have no row dimension.
  // Errors: the program's own, or that it exceeds the limit; 0: no limit.
  virtual Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                                      std::chrono::seconds limit) = 0;

 protected:
  Signature signature_;
  std::int64_t fixed_rows_ = 0;
};

// The functions of a model that can be compiled.
struct ModelFunctions {
  std::string producer;          // "tensorflow 2.18.1"; empty if the model does not say
  std::vector<JobModel> models;  // arguments of load_model() for each
};
// The one function of a file.
inline ModelFunctions one_function(std::string producer, ModelFormat format, std::string source) {
  JobModel job;
  job.format = format;
  job.source = std::move(source);
  return {std::move(producer), {std::move(job)}};
}

class SourceModel {
 public:
  virtual ~SourceModel() = default;

  const std::vector<ModelTensor>& inputs() const { return inputs_; }
  const std::vector<ModelTensor>& outputs() const { return outputs_; }

  // The compiler's verdict on each operation. Sorted by operation.
  virtual std::vector<CheckedOperation> operations() const = 0;

  // Reads everything else that lowering needs. Call it before the functions below.
  virtual Status prepare() { return {}; }
  // Must not outlive the model.
  virtual Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const = 0;
  // The weights that the outputs need, in order of first use.
  virtual std::vector<Variable> variables() const = 0;
  // Counts of the operations that the outputs need.
  virtual std::map<std::string, std::int64_t> operation_counts() const = 0;
  // For each output, the name of the node that computes it, or ""; empty if the format does not
  // name nodes.
  virtual std::vector<std::string> output_origins() const { return {}; }

 protected:
  std::vector<ModelTensor> inputs_;
  std::vector<ModelTensor> outputs_;
};

inline Error config_fault(const std::string& key, std::string message) {
  return Error::at({.file = "", .key = key}, std::move(message));
}

// "placeholders: a, b, c", for an error about a name that does not exist.
inline std::string listed(const std::string& what, std::vector<std::string> names) {
  constexpr std::size_t kMostNames = 10;
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return what + ": " + (names.empty() ? "none" : join(names, ", "));
}

Status check_signature_limits(const JobModel& job, const SourceModel& model);
Status check_weight_limits(const std::vector<Variable>& weights);

// Appends a dimension. `size`: -1 if it is open; then it may have a name.
void add_dimension(ModelTensor& tensor, std::int64_t size, const std::string& name);

// Names the open dimensions that have no name, and sets the sizes that the job gives. Error: the
// job names an unknown dimension.
Status set_open_sizes(std::vector<ModelTensor>& inputs, const JobModel& job);

// The placeholder or input that a constant of the config replaces.
struct ConstantPlace {
  const char* what = "placeholder";  // the kind of such places
  tensorflow::DataType type = tensorflow::DT_INVALID;
  bool rank_known = false;
  std::vector<std::int64_t> shape = {};  // -1: unknown
};

// The values of the constant as bytes of the place's type, row-major. `index`: of the constant in
// the config. Errors: the type or the shape does not fit.
Result<std::string> constant_bytes(const ModelConstant& constant, std::size_t index,
                                   const ConstantPlace& place);

// The error for a constant whose name does not exist in the model. `known`: the names that do.
Error no_place_for(const ModelConstant& constant, std::size_t index, const std::string& what,
                   const std::set<std::string>& known);

// "model.constants[2]".
std::string constant_key(std::size_t index);

// "write model.constants: {NAME: false} in the config", for a model that lacks the value.
std::string advice_to_fix(const std::string& name, tensorflow::DataType type);

// The off value, false or 0, of types that are probably switches, such as "training", not inputs.
// Nothing for other types.
std::optional<std::string> switched_off(tensorflow::DataType type);

struct SignatureRules {
  bool fixed_shapes = false;        // no dimension is the batch
  bool shapes_from_config = false;  // the config may say the shape of an input
};

// Checks the inputs and the output types; output shapes are known only after lowering. `label`
// names the model in messages.
Status check_signature(const std::string& label, const std::vector<ModelTensor>& inputs,
                       const std::vector<ModelTensor>& outputs, const SignatureRules& rules);

// True if the first dimension is fixed: then only that batch size can be compiled.
inline bool fixes_batch(const ModelTensor& input) { return input.shape[0] >= 0; }

// Lowers a model with this signature. The references must outlive the object.
class SignatureLowering : public Lowering {
 public:
  bool has_fixed_batch() const override {
    return fixed_shapes_ || std::ranges::any_of(inputs_, fixes_batch);
  }

 protected:
  SignatureLowering(const std::vector<ModelTensor>& inputs, const std::vector<ModelTensor>& outputs,
                    bool fixed_shapes)
      : inputs_(inputs), outputs_(outputs), fixed_shapes_(fixed_shapes) {}

  // The arguments for the inputs. Errors: an input that fixes another batch size.
  Result<std::vector<tensorflow::XlaCompiler::Argument>> input_arguments(
      std::int64_t batch_size) const;
  // The parameters of the inputs, then of the weights. With fixed shapes, an input has one row: the
  // whole tensor. Errors as above.
  Result<std::vector<xla::XlaOp>> parameters(xla::XlaBuilder& builder,
                                             std::int64_t batch_size) const;
  // Builds the computation of the results. With fixed shapes each becomes one row, unless its size
  // depends on the data.
  Result<LoweredModel> built(xla::XlaBuilder& builder, std::vector<xla::XlaOp> results) const;
  // The same for a call of a function that XlaCompiler compiled. `operands`: its arguments.
  // `constants`: replace the calls that stand for them.
  Result<LoweredModel> calling(xla::XlaBuilder& builder,
                               const tensorflow::XlaCompilationResult& compiled,
                               const std::vector<xla::XlaOp>& operands,
                               const CalledConstants& constants, const std::string& label) const;
  // Completes the lowered model with its inputs and outputs: names from the signature, shapes from
  // the computation. Errors: more dimensions than base/limits.h allows, a size that depends on the
  // data, an output without a row for each of the batch. `causes`: the nodes to blame for a
  // data-dependent size.
  Result<LoweredModel> finished(
      LoweredModel lowered, std::int64_t batch_size,
      const std::function<SizeCauses()>& causes = [] { return SizeCauses(); }) const;

  const std::vector<ModelTensor>& inputs_;
  const std::vector<ModelTensor>& outputs_;
  bool fixed_shapes_;
};

struct LibraryFunction {
  const tensorflow::FunctionLibraryDefinition& library;
  std::string name;
  int graph_version = 0;  // GraphDef producer version
};
// `error`: converts XlaCompiler's error.
Result<tensorflow::XlaCompilationResult> compile_function(
    const LibraryFunction& function,
    const std::vector<tensorflow::XlaCompiler::Argument>& arguments,
    const std::function<Error(const absl::Status&)>& error);

}  // namespace tfaot::toolkit::engine
