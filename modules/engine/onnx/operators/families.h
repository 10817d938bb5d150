// SPDX-License-Identifier: Apache-2.0
// The families of operators, one file each. To add an operator, add its function and its row to a
// family; to add a family, declare it here and list it in operators.cc.
#pragma once

#include <vector>

#include "onnx/operators.h"

namespace tfaot::toolkit::engine {

std::vector<OnnxOperator> elementwise_operators();
std::vector<OnnxOperator> activation_operators();
std::vector<OnnxOperator> shape_operators();
std::vector<OnnxOperator> product_operators();
std::vector<OnnxOperator> convolution_operators();
std::vector<OnnxOperator> pooling_operators();
std::vector<OnnxOperator> normalization_operators();
std::vector<OnnxOperator> resize_operators();
std::vector<OnnxOperator> image_operators();
std::vector<OnnxOperator> quantized_operators();
std::vector<OnnxOperator> attention_operators();
std::vector<OnnxOperator> linear_attention_operators();
std::vector<OnnxOperator> linear_algebra_operators();
std::vector<OnnxOperator> loss_operators();
std::vector<OnnxOperator> signal_operators();
std::vector<OnnxOperator> gather_operators();
std::vector<OnnxOperator> selection_operators();
std::vector<OnnxOperator> arrangement_operators();
std::vector<OnnxOperator> reduction_operators();
std::vector<OnnxOperator> recurrent_operators();
std::vector<OnnxOperator> control_operators();
std::vector<OnnxOperator> box_operators();
// Of the domain ai.onnx.ml.
std::vector<OnnxOperator> tree_operators();
std::vector<OnnxOperator> feature_operators();
std::vector<OnnxOperator> linear_model_operators();
// Of com.microsoft and qonnx.custom_op.general.
std::vector<OnnxOperator> microsoft_operators();
std::vector<OnnxOperator> qonnx_operators();

}  // namespace tfaot::toolkit::engine
