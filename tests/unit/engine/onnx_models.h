// SPDX-License-Identifier: Apache-2.0
// ONNX models for tests, from protobuf's text form.
#pragma once

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "front/onnx/onnx_source.h"
#include "onnx-ml.pb.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/engine/evaluate_lowering.h"
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

  Result<std::unique_ptr<engine::SourceModel>> load(JobModel job = {}) const {
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

}  // namespace tfaot::toolkit::testing
