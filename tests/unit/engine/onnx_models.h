// SPDX-License-Identifier: Apache-2.0
// ONNX models for tests, from protobuf's text form, and what they compute.
#pragma once

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "hlo/hlo.h"
#include "onnx-ml.pb.h"
#include "onnx/onnx_source.h"
#include "tests/support/temporary_folder.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::testing {

// A file with the model in a folder of its own.
class OnnxFile {
 public:
  // `graph`: the text of the graph; `rest`: of the model's other fields.
  explicit OnnxFile(const std::string& graph,
                    const std::string& rest = "opset_import { version: 17 }") {
    onnx::ModelProto model;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "ir_version: 8 graph {" + graph + "} " + rest, &model));
    std::ofstream(path(), std::ios::binary) << model.SerializeAsString();
  }
  std::string path() const { return (folder_.path() / "model.onnx").string(); }
  std::filesystem::path folder() const { return folder_.path(); }

  Result<std::unique_ptr<engine::SourceModel>> load(EngineJob job = {}) const {
    job.format = ModelFormat::kOnnx;
    job.source = path();
    TFAOT_ASSIGN(auto source, engine::load_onnx_source(job));
    TFAOT_TRY(source->prepare());
    return source;
  }

 private:
  TemporaryFolder folder_;
};

// An input or output of type float32.
inline std::string tensor_text(const std::string& field, const std::string& name,
                               const std::vector<std::string>& sizes) {
  std::string text = field + " { name: '" + name + "' type { tensor_type { elem_type: 1 shape {";
  for (const std::string& size : sizes) {
    const bool is_number = !size.empty() && std::isdigit(static_cast<unsigned char>(size[0])) != 0;
    text += is_number ? " dim { dim_value: " + size + " }" : " dim { dim_param: '" + size + "' }";
  }
  return text + " } } } }\n";
}

// The outputs for these inputs, by XLA's evaluator. The weights are read from the model.
inline Result<std::vector<xla::Literal>> evaluate(const engine::Lowering& lowering,
                                                  const std::vector<xla::Literal>& inputs,
                                                  std::int64_t rows) {
  TFAOT_ASSIGN(const auto lowered, lowering.lower(rows));
  TFAOT_ASSIGN(const auto module, engine::make_module(lowered.computation.proto()));
  std::vector<xla::Literal> arguments;
  for (const xla::Literal& input : inputs) arguments.push_back(input.Clone());
  for (const engine::RawWeight& weight : lowering.weights()) {
    TFAOT_ASSIGN(const auto value, weight.read());
    arguments.push_back(value->Clone());
  }
  xla::HloEvaluator evaluator;
  auto made = evaluator.Evaluate(*module, arguments);
  if (!made.ok()) return fail(engine::internal_error(made.status()));
  return made->DecomposeTuple();
}

}  // namespace tfaot::toolkit::testing
