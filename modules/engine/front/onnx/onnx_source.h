// SPDX-License-Identifier: Apache-2.0
// ONNX tensors as XLA literals.
//
// ONNX files as a SourceModel. Initializers become weights, except scalars and those from which
// shapes, axes, conditions or bounds are computed: these are constants of the code.
#pragma once

#include "front/lowering/signature.h"
#include "front/onnx/node.h"
#include "tfaot/base/file_system.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace tfaot::toolkit::engine {

// Nothing for types that XLA lacks, such as strings.
std::optional<xla::PrimitiveType> element_type(int onnx_type);
// ONNX's name, "FLOAT".
std::string onnx_type_name(int onnx_type);

// Reads the values. External data lies next to the model's file. Errors: the number of values does
// not match the shape; external data is outside the model's folder, also by a link.
Result<xla::Literal> read_tensor(const onnx::TensorProto& tensor, const std::string& model_file);

// Returns the graph as the one function.
Result<ModelFunctions> onnx_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_onnx_source(const JobModel& job);

}  // namespace tfaot::toolkit::engine
