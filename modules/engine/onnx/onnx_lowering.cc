// SPDX-License-Identifier: Apache-2.0
#include "onnx/onnx_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "hlo/hlo.h"
#include "hlo/signature.h"
#include "lowering/conversions.h"
#include "lowering/signature_checks.h"
#include "onnx/node.h"
#include "onnx/onnx_tensor.h"
#include "onnx/onnx_weights.h"
#include "onnx/operators.h"
#include "tfaot/records/model_check.h"
#include "xla/client/xla_builder.h"

namespace tfaot::toolkit::engine {
namespace {

// True if operators of the model may make weights of their attributes.
bool may_make_weights(const OnnxModel& model) {
  return std::ranges::any_of(model.proto.opset_import(),
                             [](const auto& import) { return import.domain() == "ai.onnx.ml"; });
}

// The labels of a classifier.
Status check_no_strings(const std::vector<ModelTensor>& outputs) {
  for (const ModelTensor& output : outputs) {
    if (output.type != tensorflow::DT_STRING) continue;
    return fail(Error(fmt::format("output '{}' has dtype string, which compiled models cannot have",
                                  output.name))
                    .note("if it holds a classifier's labels: train with integer labels, or remove "
                          "the output from the model")
                    .about(word_of(ProblemKind::kDtype), {output.name}));
  }
  return {};
}

// By an operator, of its attributes.
struct MadeWeight {
  std::string name;
  std::shared_ptr<const xla::Literal> value;
};

// -0 differs from 0, and NaN equals itself.
bool are_same_bytes(const xla::Literal& a, const xla::Literal& b) {
  return xla::ShapeUtil::Equal(a.shape(), b.shape()) &&
         std::memcmp(a.untyped_data(), b.untyped_data(),
                     static_cast<std::size_t>(a.size_bytes())) == 0;
}

class OnnxLowering final : public Lowering {
 public:
  OnnxLowering(const OnnxModel& model, const std::vector<ModelTensor>& inputs,
               const std::vector<ModelTensor>& outputs, bool fixed_shapes)
      : model_(model),
        opsets_(opsets_of(model.proto.opset_import())),
        inputs_(inputs),
        outputs_(outputs),
        fixed_shapes_(fixed_shapes) {}

  Status add_weights() {
    for (const OnnxWeight& weight : weights_of(model_)) {
      TFAOT_ASSIGN(xla::Shape shape, shape_of_tensor(*weight.tensor));
      weights_.push_back({weight.name, std::move(shape),
                          [tensor = weight.tensor, file = model_.file]() -> Result<Value> {
                            TFAOT_ASSIGN(auto value, read_tensor(*tensor, file));
                            return std::make_shared<xla::Literal>(std::move(value));
                          }});
    }
    if (may_make_weights(model_)) find_made_weights();
    return {};
  }

  Result<LoweredModel> lower(std::int64_t batch_size) const override {
    if (!fixed_shapes_) {
      for (const ModelTensor& input : inputs_) TFAOT_TRY(check_batch(input, batch_size));
    }
    try {
      return lower_graph(batch_size);
    } catch (const Refusal& refusal) {
      return fail(refusal.error());
    }
  }

  bool has_fixed_batch() const override {
    return fixed_shapes_ || std::ranges::any_of(inputs_, fixes_batch);
  }

 private:
  // Throws a Refusal.
  Result<LoweredModel> lower_graph(std::int64_t batch_size) const {
    xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
    OnnxScope scope(model_, opsets_, builder);
    const std::vector<xla::XlaOp> parameters = add_parameters(scope, batch_size);
    scope.keep_by([&](const std::string& name, const xla::Literal& value) {
      const auto found = find_made(name, value);
      return found ? parameters[*found] : xla::ConstantLiteral(&builder, value);
    });
    scope.lower(model_.proto.graph());
    std::vector<xla::XlaOp> results = scope.outputs_of(model_.proto.graph());
    for (std::size_t i = 0; i < results.size(); ++i) {
      TFAOT_TRY(check_made(builder, results[i], outputs_[i]));
    }
    if (fixed_shapes_) {
      for (xla::XlaOp& result : results) {
        const auto shape = builder.GetShape(result);
        if (!shape.ok()) return fail(internal_error(shape.status()));
        result = xla::Reshape(result, one_row(*shape).dimensions());
      }
    }
    xla::Tuple(&builder, results);
    auto built = builder.Build();
    if (!built.ok()) return fail(internal_error(built.status()));
    LoweredModel lowered{std::move(*built), {}, {}, {}};
    auto shape = lowered.computation.GetProgramShape();
    if (!shape.ok()) return fail(internal_error(shape.status()));
    lowered.shape = std::move(*shape);
    return with_signature(std::move(lowered), inputs_, outputs_, batch_size,
                          [] { return SizeCauses(); });
  }

  // Other branches and steps may make other values under the same name; those that one row does not
  // need are constants.
  std::optional<std::size_t> find_made(const std::string& name, const xla::Literal& value) const {
    const auto found = std::ranges::find_if(made_, [&](const MadeWeight& made) {
      return made.name == name && are_same_bytes(*made.value, value);
    });
    if (found == made_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - made_.begin());
  }

  // Lowers the graph for one row, with constants in place of the weights that operators make.
  void find_made_weights() {
    std::int64_t rows = 1;
    for (const ModelTensor& input : inputs_) {
      if (!fixed_shapes_ && input.shape[0] >= 0) rows = input.shape[0];
    }
    xla::XlaBuilder builder("weights");
    OnnxScope scope(model_, opsets_, builder);
    add_parameters(scope, rows);
    scope.keep_by([&](const std::string& name, const xla::Literal& value) {
      if (!find_made(name, value)) {
        made_.push_back({name, std::make_shared<xla::Literal>(value.Clone())});
      }
      return xla::ConstantLiteral(&builder, value);
    });
    try {
      scope.lower(model_.proto.graph());
    } catch (const Refusal&) {
      made_.clear();  // lower() says it
    }
    for (const MadeWeight& made : made_) {
      weights_.push_back({made.name, made.value->shape(),
                          [value = made.value]() -> Result<Value> { return value; }});
    }
  }

  // Returns the weights that operators make, as in `made_`; the others get their names.
  std::vector<xla::XlaOp> add_parameters(OnnxScope& scope, std::int64_t batch_size) const {
    xla::XlaBuilder& builder = scope.builder();
    std::int64_t number = 0;
    for (const ModelTensor& input : inputs_) {
      Dimensions sizes = input.shape;
      if (!fixed_shapes_) sizes.front() = batch_size;
      const xla::Shape shape = shape_of(type_of(input), sizes);
      const xla::Shape whole = fixed_shapes_ ? one_row(shape) : shape;
      const std::int64_t place = number++;
      xla::XlaOp op = xla::Parameter(&builder, place, whole, fmt::format("p{}", place));
      if (fixed_shapes_) op = xla::Reshape(op, sizes);
      scope.set(input.name, op);
    }
    std::vector<xla::XlaOp> made;
    for (const RawWeight& weight : weights_) {
      const std::int64_t place = number++;
      const xla::XlaOp op =
          xla::Parameter(&builder, place, weight.shape, fmt::format("p{}", place));
      if (place - std::ssize(inputs_) < std::ssize(weights_) - std::ssize(made_)) {
        scope.set(weight.name, op);
      } else {
        made.push_back(op);
      }
    }
    return made;
  }

  // Who calls the model reads the output as the declared type.
  static Status check_made(const xla::XlaBuilder& builder, xla::XlaOp made,
                           const ModelTensor& output) {
    const auto shape = builder.GetShape(made);
    if (!shape.ok()) return fail(internal_error(shape.status()));
    const auto type = tensorflow::EncodePrimitiveTypeAsDataType(shape->element_type())
                          .value_or(tensorflow::DT_INVALID);
    if (type == output.type) return {};
    return fail(Error(fmt::format("output '{}' is declared as {}, but the graph makes {}",
                                  output.name, type_name(output.type), type_name(type)))
                    .note("declare the type that is made, or put a Cast before the output")
                    .about(word_of(ProblemKind::kDtype), {output.name}));
  }

  // REQUIRES: the input's type was checked.
  static xla::PrimitiveType type_of(const ModelTensor& input) {
    xla::PrimitiveType type = xla::PRIMITIVE_TYPE_INVALID;
    static_cast<void>(tensorflow::DataTypeToPrimitiveType(input.type, &type));
    return type;
  }

  const OnnxModel& model_;
  Opsets opsets_;
  const std::vector<ModelTensor>& inputs_;
  const std::vector<ModelTensor>& outputs_;
  bool fixed_shapes_;
  std::vector<MadeWeight> made_;  // the last of the weights
};

}  // namespace

Result<std::unique_ptr<Lowering>> make_onnx_lowering(const OnnxModel& model,
                                                     const std::vector<ModelTensor>& inputs,
                                                     const std::vector<ModelTensor>& outputs,
                                                     const LoweringOptions& options) {
  if (!options.any_opset) TFAOT_TRY(check_opsets(model.proto));
  TFAOT_TRY(check_no_strings(outputs));
  TFAOT_TRY(check_signature("the graph", inputs, outputs, {.fixed_shapes = options.fixed_shapes}));
  auto lowering = std::make_unique<OnnxLowering>(model, inputs, outputs, options.fixed_shapes);
  if (!options.embed_weights) TFAOT_TRY(lowering->add_weights());
  return lowering;
}

}  // namespace tfaot::toolkit::engine
