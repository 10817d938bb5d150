// SPDX-License-Identifier: Apache-2.0
// Reading ONNX files. Tells the constants of a graph that are weights from those that are part of
// the code, since shapes, axes, conditions or bounds are computed from them. Pure functions.
//
// ONNX's tensors as XLA's literals.
//
// ONNX files as a SourceModel. Lowers a graph for a batch size: initializers are the weights; those
// that are scalars, or that shapes depend on, are constants of the code.
#pragma once

#include "front/lowering/signature.h"
#include "front/onnx/node.h"
#include "tfaot/base/file_system.h"
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

// The graph is the one function.
Result<ModelFunctions> onnx_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_onnx_source(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
