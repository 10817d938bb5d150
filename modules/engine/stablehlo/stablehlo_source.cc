// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/stablehlo_source.h"

#include <fmt/format.h>

#include <set>

#include "lowering/conversions.h"
#include "lowering/open_sizes.h"
#include "stablehlo/read_stablehlo.h"
#include "stablehlo/stablehlo_lowering.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/core/framework/types.h"

namespace tfaot::toolkit::engine {
namespace {

tensorflow::DataType tf_type_of_text(std::string_view element) {
  const auto encoded = tensorflow::EncodePrimitiveTypeAsDataType(type_of_text(element));
  return encoded.ok() ? *encoded : tensorflow::DT_INVALID;
}

ModelTensor model_tensor_of(const FunctionValue& value) {
  ModelTensor tensor;
  tensor.name = tensor.tensor = value.name;
  if (!value.tensor) return tensor;
  tensor.type = tf_type_of_text(value.tensor->element);
  tensor.rank_known = true;
  for (std::size_t i = 0; i < value.tensor->sizes.size(); ++i) {
    add_dimension(tensor, value.tensor->sizes[i], i < value.sizes.size() ? value.sizes[i] : "");
  }
  return tensor;
}

// Names that the module gives, if they tell all tensors apart; else "input_0".
void name_all(std::vector<ModelTensor>& tensors, const char* kind) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name.empty()) tensors[i].name = fmt::format("{}_{}", kind, i);
    names.insert(tensors[i].name);
  }
  const bool are_different = names.size() == tensors.size();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!are_different) tensors[i].name = fmt::format("{}_{}", kind, i);
    tensors[i].tensor = tensors[i].name;
  }
}

class StableHloSource final : public SourceModel {
 public:
  explicit StableHloSource(StableHloModule module) : module_(std::move(module)) {
    for (const FunctionValue& value : module_.main.arguments) {
      inputs_.push_back(model_tensor_of(value));
    }
    for (const FunctionValue& value : module_.main.results) {
      outputs_.push_back(model_tensor_of(value));
    }
    name_all(inputs_, "input");
    name_all(outputs_, "output");
  }
  Status take_sizes(const EngineJob& job) { return set_open_sizes(inputs_, job); }

  const std::vector<ModelTensor>& inputs() const override { return inputs_; }
  const std::vector<ModelTensor>& outputs() const override { return outputs_; }

  // Without names: a line of a module is no place that its author knows.
  std::vector<CheckedOperation> operations() const override {
    std::vector<CheckedOperation> rows;
    for (const auto& [name, count] : operation_counts()) {
      CheckedOperation row;
      row.operation = name;
      row.nodes.resize(static_cast<std::size_t>(count));
      const bool is_structure = name == "stablehlo.while" || name == "stablehlo.case" ||
                                name == "stablehlo.if" || name == "stablehlo.composite";
      if (is_structure) row.support = OperationSupport::kStructure;
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Status prepare() override {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const FunctionValue& value = module_.main.arguments[i];
      if (!value.tensor) {
        return fail(Error(fmt::format("input '{}' is of type {}", inputs_[i].name, value.type))
                        .note("an input is a tensor of a known number of dimensions, of real "
                              "numbers, whole numbers or truth values"));
      }
    }
    return {};
  }

  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    return make_stablehlo_lowering(module_, inputs_, outputs_, options);
  }

  std::vector<Variable> variables() const override {
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < module_.constants.size(); ++i) {
      const TensorText& type = module_.constants[i].type;
      variables.push_back({constant_name(i), type_name(tf_type_of_text(type.element)), type.sizes});
    }
    return variables;
  }

  std::map<std::string, std::int64_t> operation_counts() const override {
    return count_operations(module_.whole);
  }

 private:
  StableHloModule module_;
  std::vector<ModelTensor> inputs_;
  std::vector<ModelTensor> outputs_;
};

}  // namespace

Result<ModelFunctions> stablehlo_functions(const std::string& file) {
  TFAOT_ASSIGN(StableHloModule module, read_stablehlo(file));
  ModelFunctions functions;
  functions.producer = std::move(module.producer);
  EngineJob job;
  job.format = ModelFormat::kStableHlo;
  job.source = file;
  functions.jobs.push_back(std::move(job));
  return functions;
}

Result<std::unique_ptr<SourceModel>> load_stablehlo_source(const EngineJob& job) {
  TFAOT_ASSIGN(StableHloModule module, read_stablehlo(job.source));
  auto source = std::make_unique<StableHloSource>(std::move(module));
  TFAOT_TRY(source->take_sizes(job));
  return source;
}

}  // namespace tfaot::toolkit::engine
