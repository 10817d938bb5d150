// SPDX-License-Identifier: Apache-2.0
// Quantised operators, whose integers represent real numbers by a scale and a zero point: those of
// ONNX, ONNX Runtime (com.microsoft) and QONNX.

#include "front/onnx/operators/building.h"

namespace tfaot::toolkit::engine {
namespace {

bool is_quantized_type(xla::PrimitiveType type) {
  return type == xla::U8 || type == xla::S8 || type == xla::U16 || type == xla::S16;
}

xla::PrimitiveType type_attribute(const Node& node, const std::string& name,
                                  xla::PrimitiveType otherwise) {
  const std::int64_t number = node.integer(name, 0);
  return number == 0 ? otherwise : node.type_of_number(number, "has the " + name);
}

// Broadcasts scales or zero points to a tensor of these sizes. There is one for all, one for each
// place of the axis, or one for each block of places.
XlaOp spread_along_axis(const Node& node, XlaOp values, const Dimensions& sizes) {
  const Dimensions own = node.sizes_of(values);
  if (product(own) == 1) return xla::Broadcast(xla::Reshape(values, {}), sizes);
  const auto axis = node.axis(node.integer("axis", 1), std::ssize(sizes));
  const std::int64_t size = entry(sizes, axis);
  const std::int64_t block = node.integer("block_size", 0);
  if (own.size() == 1) {
    if (own[0] != size) node.refuse("has a scale that does not match its axis");
    return along(values, sizes, axis);
  }
  if (own.size() != sizes.size() || block < 1) node.refuse("has a scale of another rank");
  const XlaOp cut = xla::SliceInDim(repeat_along(node, values, axis, block), 0, size, 1, axis);
  if (node.sizes_of(cut) != sizes) node.refuse("has a scale that does not match its blocks");
  return cut;
}

// The zero points as real numbers, broadcast to a tensor of these sizes. If all are the same, they
// are one number, which our passes find.
XlaOp zero_points(const Node& node, int operand, const Dimensions& sizes) {
  if (const auto point = zero_point_of(node, operand)) {
    return xla::Broadcast(scalar(node, xla::F32, static_cast<double>(*point)), sizes);
  }
  return spread_along_axis(node, cast(node.operand(operand), xla::F32), sizes);
}

void lower_quantize_linear(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto type = node.has(2) ? node.type(2) : type_attribute(node, "output_dtype", xla::U8);
  if (!is_quantized_type(type)) node.refuse("quantizes to a type other than (u)int8 and (u)int16");
  const auto precision = type_attribute(node, "precision", node.type(1));
  const XlaOp scale = cast(node.operand(1), precision);
  const XlaOp scaled = cast(node.operand(0), precision) / spread_along_axis(node, scale, sizes);
  XlaOp rounded = xla::RoundToEven(cast(scaled, xla::F32));
  if (node.has(2)) rounded = rounded + zero_points(node, 2, sizes);
  node.set(cast(clamped_to(node, rounded, type), type));
}

void lower_dequantize_linear(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (!is_quantized_type(node.type(0)) && node.type(0) != xla::S32)
    node.refuse("dequantizes a type other than (u)int8, (u)int16 and int32");
  const auto type = type_attribute(node, "output_dtype", node.type(1));
  const auto exact = [](XlaOp x) { return cast(x, xla::F32); };
  XlaOp x = exact(node.operand(0));
  if (node.has(2)) x = x - zero_points(node, 2, sizes);
  const XlaOp scale = spread_along_axis(node, exact(node.operand(1)), sizes);
  node.set(cast(x * scale, type));
}

// Quantises to uint8, with the scale and zero point that cover all elements and 0.
void lower_dynamic_quantize_linear(Node& node) {
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const XlaOp zero = xla::Zero(&node.builder(), type);
  const XlaOp most = scalar(node, type, 255);
  const auto extreme = [&](auto* const combine) {
    return xla::ReduceAll(x, zero, combine(type, &node.builder()));
  };
  const XlaOp least = extreme(xla::CreateScalarMinComputation);
  const XlaOp range = extreme(xla::CreateScalarMaxComputation) - least;
  // In a form that XLA's simplifier does not turn into a product with a rounded inverse.
  const XlaOp divisor = xla::Clamp(most, range, most);
  const XlaOp scale = xla::Select(range == zero, like(x, 1), range) / divisor;
  const XlaOp point = cast(xla::RoundToEven(xla::Clamp(zero, -least / scale, most)), xla::U8);
  node.set(0, saturated(node, x / scale, point));
  node.set(1, scale);
  node.set(2, point);
}

// The integer product of operand 0 and operand `right`, each of which has its zero point `step`
// operands later. There may be one for each row of the left or column of the right matrix.
XlaOp multiply_integers(const Node& node, int right, int step) {
  return multiply_matrices(node, without_zero_point(node, 0, step, node.rank(0) - 2),
                           without_zero_point(node, right, right + step, node.rank(right) - 1));
}

void lower_matmul_integer(Node& node) { node.set(multiply_integers(node, 1, 2)); }

// True if the zero points of these operands are known and a's scale is one number: then the
// operator is written as the real numbers that the whole ones stand for, which our passes multiply
// as whole numbers.
bool may_be_real(const Node& node, int scale, std::initializer_list<int> zeros) {
  return product(node.sizes(scale)) == 1 && node.type(scale) == xla::F32 &&
         std::ranges::all_of(zeros,
                             [&](int zero) { return zero_point_of(node, zero).has_value(); });
}

// a, its scale and zero point, the same of b, the result's scale and zero point.
void lower_qlinear_matmul(Node& node) {
  if (may_be_real(node, 1, {2, 5, 7})) {
    const XlaOp real =
        multiply_matrices(node, real_numbers(node, 0, {}), real_numbers(node, 3, node.rank(3) - 1));
    const XlaOp step = scalar_if_single(node, node.operand(6));
    node.set(saturated(node, real / step, scalar_if_single(node, node.operand(7))));
    return;
  }
  const XlaOp sums = multiply_integers(node, 3, 2);
  const Dimensions sizes = node.sizes_of(sums);
  const auto spread = [&](XlaOp values) {
    return broadcast_to(node, scalar_if_single(node, values), sizes);
  };
  // A scale per row of the left matrix.
  XlaOp left = node.operand(1);
  if (node.rank(1) == 1 && node.sizes(1)[0] > 1) left = xla::Reshape(left, {node.sizes(1)[0], 1});
  const XlaOp ratio = spread(left) * spread(node.operand(4)) / spread(node.operand(6));
  const XlaOp scaled = cast(sums, node.type_of(ratio)) * ratio;
  node.set(saturated(node, scaled, spread(node.operand(7))));
}

// Operators of com.microsoft, written by ONNX Runtime's quantiser, are composed of ONNX's: integers
// are dequantised to float32, and the operator's result is quantised. ONNX Runtime rounds
// elsewhere, so a result may differ by one step.

// A quantised operator and its float counterpart. A scale is followed by its zero point.
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

// The first result of an operator.
XlaOp applied(Node& node, const Applied& what, const std::vector<XlaOp>& operands) {
  return apply(node, what, operands).front();
}

// Without a zero point, the result has the type of operand `like`.
XlaOp quantized(Node& node, XlaOp real, int scale, int like) {
  const XlaOp zero =
      node.has(scale + 1) ? node.operand(scale + 1) : xla::Zero(&node.builder(), node.type(like));
  return applied(node, {"QuantizeLinear"}, {real, node.operand(scale), zero});
}

void lower_by_floats(Node& node) {
  const ByFloats& form = *std::ranges::find(kByFloats, node.proto().op_type(), &ByFloats::name);
  if (node.flag("channels_last")) node.refuse("has channels_last, which is not lowered");
  const std::int64_t opset = std::max<std::int64_t>(node.integer("opset", 12), 10);
  std::vector<XlaOp> inputs;
  if (form.condition >= 0) inputs.push_back(node.operand(form.condition));
  const int end = form.operands == 0 ? node.operand_count() : form.first + 3 * form.operands;
  for (int i = form.first; i < end; i += 3) {
    inputs.push_back(applied(node, {"DequantizeLinear", opset},
                             {node.operand(i), node.operand(i + 1), node.operand_if_given(i + 2)}));
  }
  const XlaOp real = applied(node, {form.operation, opset, true}, inputs);
  node.set(quantized(node, real, form.result, form.first));
}

// Computes sums * left * right + bias. The scales may be per column, the bias may be omitted.
XlaOp scaled_sums(Node& node, XlaOp sums, XlaOp left, XlaOp right, XlaOp bias) {
  const XlaOp scale = applied(node, {"Mul"}, {left, right});
  const XlaOp scaled = applied(node, {"Mul"}, {cast(sums, xla::F32), scale});
  return bias.valid() ? applied(node, {"Add"}, {scaled, bias}) : scaled;
}

// a, b, their scales, their zero points, a bias.
void lower_matmul_integer_to_float(Node& node) {
  const XlaOp sums = applied(
      node, {"MatMulInteger"},
      {node.operand(0), node.operand(1), node.operand_if_given(4), node.operand_if_given(5)});
  node.set(scaled_sums(node, sums, node.operand(2), node.operand(3), node.operand_if_given(6)));
}

// a, which is quantised here, b, its scale and zero point, a bias.
void lower_dynamic_quantize_matmul(Node& node) {
  const auto a =
      apply(node, {.operation = "DynamicQuantizeLinear", .results = 3}, {node.operand(0)});
  const XlaOp sums =
      applied(node, {"MatMulInteger"}, {a[0], node.operand(1), a[2], node.operand_if_given(3)});
  node.set(scaled_sums(node, sums, a[1], node.operand(2), node.operand_if_given(4)));
}

// a, b and their scales and zero points, a bias of int32, the result's scale and zero point.
void lower_qgemm(Node& node) {
  const auto turned = [&](XlaOp side, const char* transposes) {
    return node.flag(transposes) ? xla::Transpose(side, {1, 0}) : side;
  };
  if (may_be_real(node, 1, {2, 5}) && node.real("alpha", 1) == 1) {
    const std::int64_t columns = node.flag("transB") ? 0 : 1;
    XlaOp real = multiply_matrices(node, turned(real_numbers(node, 0, {}), "transA"),
                                   turned(real_numbers(node, 3, columns), "transB"));
    if (node.has(6)) {
      const XlaOp scale =
          scalar_if_single(node, node.operand(1)) * scalar_if_single(node, node.operand(4));
      const XlaOp bias = cast(node.operand(6), xla::F32);
      real = applied(node, {"Add"}, {real, applied(node, {"Mul"}, {bias, scale})});
    }
    node.set(node.has(7) ? quantized(node, real, 7, 0) : real);
    return;
  }
  XlaOp sums = applied(node, {"MatMulInteger"},
                       {turned(node.operand(0), "transA"), turned(node.operand(3), "transB"),
                        node.operand_if_given(2), node.operand_if_given(5)});
  if (node.has(6)) sums = applied(node, {"Add"}, {sums, node.operand(6)});
  const XlaOp left =
      applied(node, {"Mul"}, {node.operand(1), scalar(node, xla::F32, node.real("alpha", 1))});
  const XlaOp real = scaled_sums(node, sums, left, node.operand(4), XlaOp());
  node.set(node.has(7) ? quantized(node, real, 7, 0) : real);
}

// Converts weights of a DynamicQuantizeLSTM to those of an LSTM. Scales are per direction, or per
// column of each.
XlaOp float_weights(const Node& node, int weights, int scale) {
  const auto along_rows = [&](XlaOp values) {
    const Dimensions sizes = node.sizes_of(values);
    if (sizes.empty()) return values;
    const XlaOp rows =
        xla::Reshape(values, with_new(sizes.size() == 1 ? with_new(sizes, 1, 1) : sizes, 1, 1));
    return broadcast_to(node, rows, node.sizes(weights));
  };
  const XlaOp zero = cast(along_rows(node.operand(scale + 1)), xla::F32);
  const XlaOp whole = cast(node.operand(weights), xla::F32) - zero;
  return xla::Transpose(whole * along_rows(node.operand(scale)), {0, 2, 1});
}

// Keeps inputs and states in float32. ONNX Runtime quantises them with one scale for the whole
// batch, so that its rows depend on each other.
void lower_dynamic_quantize_lstm(Node& node) {
  std::vector<XlaOp> operands = {node.operand(0), float_weights(node, 1, 8),
                                 float_weights(node, 2, 10)};
  for (int i = 3; i < 8; ++i) operands.push_back(node.operand_if_given(i));
  const auto made =
      apply(node, {.operation = "LSTM", .with_attributes = true, .results = 3}, operands);
  for (int i = 0; i < 3; ++i) node.set(i, entry(made, i));
}

// Operators of QONNX, written by hls4ml, Brevitas and QKeras: floats are rounded to values that
// integers of a few bits represent.
XlaOp towards_zero(XlaOp x) { return xla::Sign(x) * xla::Floor(xla::Abs(x)); }

XlaOp rounded(const Node& node, XlaOp x) {
  const std::string mode = node.text("rounding_mode", "ROUND");
  const XlaOp half = like(x, 0.5);
  if (mode == "ROUND" || mode == "HALF_EVEN") return xla::RoundToEven(x);
  if (mode == "FLOOR") return xla::Floor(x);
  if (mode == "CEIL") return xla::Ceil(x);
  if (mode == "ROUND_TO_ZERO" || mode == "DOWN") return towards_zero(x);
  if (mode == "UP") return xla::Sign(x) * xla::Ceil(xla::Abs(x));
  const XlaOp size = xla::Abs(x);
  if (mode == "HALF_UP") return xla::Sign(x) * xla::Floor(size + half);
  if (mode == "HALF_DOWN") return xla::Sign(x) * xla::Ceil(size - half);
  node.refuse("has the rounding_mode '{}', which is not known", mode);
}

// 1 or -1: a signed bit has no zero.
XlaOp signs_of(XlaOp x) {
  const XlaOp one = like(x, 1);
  return xla::Select(x >= xla::ZerosLike(x), one, -one);
}

// x, scale, zero point, number of bits: all broadcast.
void lower_quant(Node& node) {
  const auto operands =
      broadcast_operands(node, 4, "x, a scale, a zero point and a number of bits");
  const XlaOp x = operands[0];
  const bool has_sign = node.flag("signed", true);
  const XlaOp narrow = like(x, node.flag("narrow") ? 1 : 0);
  const XlaOp one = like(x, 1);
  const XlaOp numbers = xla::Pow(like(x, 2), has_sign ? operands[3] - one : operands[3]);
  const XlaOp least = has_sign ? narrow - numbers : xla::ZerosLike(x);
  XlaOp largest = numbers - one;
  if (!has_sign) largest = largest - narrow;
  const XlaOp place = x / operands[1] + operands[2];
  XlaOp whole = rounded(node, xla::Clamp(least, place, largest));
  if (has_sign) whole = xla::Select(operands[3] == one, signs_of(place), whole);
  node.set((whole - operands[2]) * operands[1]);
}

void lower_bipolar_quant(Node& node) {
  const auto operands = broadcast_operands(node, 2, "x and a scale");
  node.set(signs_of(operands[0]) * operands[1]);
}

}  // namespace

XlaOp without_zero_point(const Node& node, int operand, int zero,
                         std::optional<std::int64_t> axis) {
  const XlaOp values = cast(node.operand(operand), xla::S32);
  if (zero_point_of(node, zero) == 0) return values;
  const XlaOp points = cast(node.operand(zero), xla::S32);
  if (product(node.sizes(zero)) == 1) return values - xla::Reshape(points, {});
  if (!axis) node.refuse("has several zero points for one tensor");
  const Dimensions sizes = node.sizes_of(values);
  return values -
         (node.rank(zero) == 1 ? along(points, sizes, *axis) : broadcast_to(node, points, sizes));
}

std::optional<std::int64_t> zero_point_of(const Node& node, int operand) {
  if (!node.has(operand)) return 0;
  const auto points = node.integers_if_known(operand);
  if (!points || points->empty()) return {};
  const bool is_one = std::ranges::count(*points, points->front()) == std::ssize(*points);
  return is_one ? std::optional(points->front()) : std::nullopt;
}

XlaOp real_numbers(const Node& node, int operand, std::optional<std::int64_t> axis) {
  const Dimensions sizes = node.sizes(operand);
  const auto spread = [&](XlaOp values) {
    const bool is_one = product(node.sizes_of(values)) == 1;
    if (!is_one && !axis) node.refuse("has several scales for one tensor");
    return is_one ? xla::Broadcast(xla::Reshape(values, {}), sizes) : along(values, sizes, *axis);
  };
  const auto zero = zero_point_of(node, operand + 2);
  const XlaOp point = zero ? scalar(node, xla::F32, static_cast<double>(*zero))
                           : cast(node.operand(operand + 2), xla::F32);
  return (cast(node.operand(operand), xla::F32) - spread(point)) *
         spread(node.operand(operand + 1));
}

XlaOp saturated(const Node& node, XlaOp values, XlaOp zero) {
  const auto type = node.type_of(zero);
  const XlaOp rounded = xla::RoundToEven(cast(values, xla::F32));
  const XlaOp moved = rounded + cast(zero, xla::F32);
  return cast(clamped_to(node, moved, type), type);
}

std::vector<OnnxOperator> quantized_operators() {
  std::vector<OnnxOperator> rows = {
      {"DequantizeLinear", 10, lower_dequantize_linear, {.settings = {2}}},
      {"DynamicQuantizeLinear", 11, lower_dynamic_quantize_linear},
      {"MatMulInteger", 10, lower_matmul_integer, {.settings = {2, 3}}},
      {"QLinearMatMul", 10, lower_qlinear_matmul, {.settings = {2, 5, 7}}},
      {"QuantizeLinear", 10, lower_quantize_linear, {.settings = {2}}},
  };
  std::vector<OnnxOperator> microsoft = {
      {"DynamicQuantizeLSTM", 1, lower_dynamic_quantize_lstm},
      {"DynamicQuantizeMatMul", 1, lower_dynamic_quantize_matmul, {.settings = {3}}},
      {"MatMulIntegerToFloat", 1, lower_matmul_integer_to_float, {.settings = {4, 5}}},
      {"QGemm", 1, lower_qgemm, {.settings = {2, 5, 8}}},
  };
  for (const ByFloats& form : kByFloats) {
    OnnxOperator& row = microsoft.emplace_back(OnnxOperator{form.name, 1, lower_by_floats});
    row.operands.settings.push_back(form.result + 1);
    for (int i = 0; i < std::max(form.operands, 1); ++i) {
      row.operands.settings.push_back(form.first + 3 * i + 2);
    }
  }
  std::ranges::move(in_domain("com.microsoft", microsoft), std::back_inserter(rows));
  std::ranges::move(in_domain("qonnx.custom_op.general",
                              {
                                  {"BipolarQuant", 1, lower_bipolar_quant},
                                  {"Quant", 1, lower_quant, {.settings = {1, 2, 3}}},
                              }),
                    std::back_inserter(rows));
  return rows;
}

}  // namespace tfaot::toolkit::engine
