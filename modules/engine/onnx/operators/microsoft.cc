// SPDX-License-Identifier: Apache-2.0
// Operators of the domain com.microsoft: those that ONNX Runtime's quantiser writes. Each is
// composed of ONNX's own: integers become float32, the operator does its work there, and the result
// is quantised. ONNX Runtime rounds in other places, so a result may differ by one step.
#include <algorithm>
#include <array>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/composed.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

constexpr const char* kMicrosoft = "com.microsoft";

// A quantised operator and its float one. The scale of an operand or of the result stands before
// its zero point.
struct ByFloats {
  const char* name;
  const char* operation;
  int condition;  // an operand that is not quantised, passed first; -1: none
  int first;      // the first quantised operand; its scale and zero point follow
  int operands;   // quantised ones; 0: all that there are
  int result;     // place of the result's scale
};
constexpr auto kByFloats = std::to_array<ByFloats>({
    {"QLinearAdd", "Add", -1, 0, 2, 6},
    {"QLinearAveragePool", "AveragePool", -1, 0, 1, 3},
    {"QLinearConcat", "Concat", -1, 2, 0, 0},
    {"QLinearGlobalAveragePool", "GlobalAveragePool", -1, 0, 1, 3},
    {"QLinearLeakyRelu", "LeakyRelu", -1, 0, 1, 3},
    {"QLinearMul", "Mul", -1, 0, 2, 6},
    {"QLinearSigmoid", "Sigmoid", -1, 0, 1, 3},
    {"QLinearSoftmax", "Softmax", -1, 0, 1, 3},
    {"QLinearWhere", "Where", 0, 1, 2, 7},
});

// Without a zero point the result has the type of the first operand.
std::string quantized(const Node& node, Composed& graph, const std::string& real, int scale,
                      xla::PrimitiveType type) {
  const std::string zero = node.has(scale + 1) ? graph.operand(scale + 1)
                                               : graph.value(xla::Zero(&node.builder(), type));
  return graph.add("QuantizeLinear", {real, graph.operand(scale), zero});
}

void lower_by_floats(Node& node) {
  const ByFloats& form = *std::ranges::find_if(
      kByFloats, [&](const ByFloats& one) { return node.proto().op_type() == one.name; });
  if (node.integer("channels_last", 0) != 0) node.refuse("has channels_last, which is not lowered");
  Composed graph(node, std::max<std::int64_t>(node.integer("opset", 12), 10));
  std::vector<std::string> inputs;
  if (form.condition >= 0) inputs.push_back(graph.operand(form.condition));
  const int end = form.operands == 0 ? node.operand_count() : form.first + 3 * form.operands;
  for (int i = form.first; i < end; i += 3) {
    inputs.push_back(graph.add("DequantizeLinear",
                               {graph.operand(i), graph.operand(i + 1), graph.operand(i + 2)}));
  }
  const std::string real = graph.add(form.operation, inputs, true);
  node.set(graph.op(quantized(node, graph, real, form.result, node.type(form.first))));
}

std::string as_float(Composed& graph, const std::string& integers) {
  return graph.value(xla::ConvertElementType(graph.op(integers), xla::F32));
}

// sums * left * right + bias; of scales for each column, and a bias that may be left out.
std::string scaled(Composed& graph, const std::string& sums, const std::string& left,
                   const std::string& right, const std::string& bias) {
  const std::string scale = graph.add("Mul", {left, right});
  const std::string product = graph.add("Mul", {as_float(graph, sums), scale});
  return bias.empty() ? product : graph.add("Add", {product, bias});
}

// a, b, their scales, their zero points, a bias.
void lower_matmul_integer_to_float(Node& node) {
  Composed graph(node);
  const std::string sums = graph.add(
      "MatMulInteger", {graph.operand(0), graph.operand(1), graph.operand(4), graph.operand(5)});
  node.set(graph.op(scaled(graph, sums, graph.operand(2), graph.operand(3), graph.operand(6))));
}

// a, which is quantised here, b, its scale and zero point, a bias.
void lower_dynamic_quantize_matmul(Node& node) {
  Composed graph(node);
  const std::string a = graph.add("DynamicQuantizeLinear", {graph.operand(0)});
  const std::string sums =
      graph.add("MatMulInteger", {a, graph.operand(1), graph.result(a, 2), graph.operand(3)});
  node.set(graph.op(scaled(graph, sums, graph.result(a, 1), graph.operand(2), graph.operand(4))));
}

// a, b and their scales and zero points, a bias of int32, the result's scale and zero point.
void lower_qgemm(Node& node) {
  Composed graph(node);
  const auto side = [&](int operand, const char* transposes) {
    const std::string given = graph.operand(operand);
    return node.integer(transposes, 0) == 0 ? given
                                            : graph.add("Transpose", {given}, "perm", {1, 0});
  };
  std::string sums = graph.add(
      "MatMulInteger", {side(0, "transA"), side(3, "transB"), graph.operand(2), graph.operand(5)});
  if (node.has(6)) sums = graph.add("Add", {sums, graph.operand(6)});
  const std::string alpha = graph.value(scalar(node, xla::F32, node.real("alpha", 1)));
  const std::string left = graph.add("Mul", {graph.operand(1), alpha});
  const std::string real = scaled(graph, sums, left, graph.operand(4), "");
  node.set(graph.op(node.has(7) ? quantized(node, graph, real, 7, node.type(0)) : real));
}

// Weights of a DynamicQuantizeLSTM as LSTM has them. There are scales for each direction, or for
// each of its columns.
std::string float_weights(const Node& node, Composed& graph, int weights, int scale) {
  const auto along = [&](const std::string& values) {
    const std::int64_t rank = node.rank(scale);
    if (rank == 0) return values;
    return graph.add("Unsqueeze", {values}, "axes",
                     rank == 1 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1});
  };
  const std::string zero = as_float(graph, along(graph.operand(scale + 1)));
  const std::string whole = graph.add("Sub", {as_float(graph, graph.operand(weights)), zero});
  const std::string real = graph.add("Mul", {whole, along(graph.operand(scale))});
  return graph.add("Transpose", {real}, "perm", {0, 2, 1});
}

// With the weights as the file has them, and inputs and states in float32. ONNX Runtime rounds
// these to 8 bits by a scale of the whole batch, so that a row would depend on the others.
void lower_dynamic_quantize_lstm(Node& node) {
  Composed graph(node);
  const std::string first = graph.add(
      "LSTM",
      {graph.operand(0), float_weights(node, graph, 1, 8), float_weights(node, graph, 2, 10),
       graph.operand(3), graph.operand(4), graph.operand(5), graph.operand(6), graph.operand(7)},
      true);
  for (int i = 0; i < node.result_count(); ++i) {
    if (node.wants(i)) node.set(i, graph.op(graph.result(first, i)));
  }
}

}  // namespace

std::vector<OnnxOperator> microsoft_operators() {
  std::vector<OnnxOperator> table = {
      {"DynamicQuantizeLSTM", 1, lower_dynamic_quantize_lstm, {}, kMicrosoft},
      {"DynamicQuantizeMatMul", 1, lower_dynamic_quantize_matmul, {}, kMicrosoft},
      {"MatMulIntegerToFloat", 1, lower_matmul_integer_to_float, {}, kMicrosoft},
      {"QGemm", 1, lower_qgemm, {}, kMicrosoft},
  };
  for (const ByFloats& form : kByFloats) {
    table.push_back({form.name, 1, lower_by_floats, {}, kMicrosoft});
  }
  return table;
}

}  // namespace tfaot::toolkit::engine
