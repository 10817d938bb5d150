// SPDX-License-Identifier: Apache-2.0
// ONNX's tensors as XLA's literals.
#pragma once

#include <optional>
#include <string>

#include "onnx-ml.pb.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "xla/literal.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace tfaot::toolkit::engine {

// Nothing for types that XLA does not have, such as strings.
std::optional<xla::PrimitiveType> element_type(int onnx_type);
// ONNX's name, "FLOAT".
std::string onnx_type_name(int onnx_type);

// Dense and row-major. Errors: its type, a negative or overflowing size.
Result<xla::Shape> shape_of_tensor(const onnx::TensorProto& tensor);

// Reads the values. External data is next to the model's file. Errors: a number of values that does
// not match the shape; external data outside of the model's folder, also by a link.
Result<xla::Literal> read_tensor(const onnx::TensorProto& tensor, const std::string& model_file);

}  // namespace tfaot::toolkit::engine
