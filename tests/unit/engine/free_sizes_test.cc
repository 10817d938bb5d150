// SPDX-License-Identifier: Apache-2.0
// Nets with a free dimension n: all sizes of the range have the numbers of the fixed size, or the
// range is refused.
#include "free_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/onnx_models.h"
#include "tests/unit/engine/run_kernels.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/records/free_sizes.h"
#include "xla/literal_util.h"
#include "xla/service/hlo_verifier.h"

namespace tfaot::toolkit::engine {
namespace {

using testing::OnnxFile;
using testing::result_with_kernels;
using testing::tensor_text;

std::string operation_text(const std::string& operation, const std::string& inputs,
                           const std::string& output, const std::string& more = "") {
  return fmt::format("node {{ op_type: '{}' input: [{}] output: '{}' {} }}\n", operation, inputs,
                     output, more);
}

std::string whole_numbers(const std::string& name, const std::vector<int>& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 dims: {} int64_data: [{}] }}\n", name,
                     values.size(), fmt::join(values, ", "));
}

// As exporters write what a program compares with: not a weight.
std::string constant(const std::string& name, int value) {
  return operation_text(
      "Constant", "", name,
      fmt::format("attribute {{ name: 'value_ints' type: INTS ints: [{}] }}", value));
}

// Real numbers that follow each other.
std::string real_numbers(const std::string& name, const std::vector<int>& dimensions) {
  std::int64_t count = 1;
  for (const int size : dimensions) count *= size;
  std::vector<std::string> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(fmt::format("{}.25", i % 31 - 15));
  return fmt::format("initializer {{ name: '{}' data_type: 1 dims: [{}] float_data: [{}] }}\n",
                     name, fmt::join(dimensions, ", "), fmt::join(numbers, ", "));
}

// n as a vector of one number.
const std::string kSizeNodes = whole_numbers("zero", {0}) + whole_numbers("one", {1}) +
                               whole_numbers("two", {2}) + operation_text("Shape", "'x'", "sizes") +
                               operation_text("Slice", "'sizes', 'one', 'two', 'zero'", "n");
const std::string kToReal = "attribute { name: 'to' type: INT i: 1 }";
const std::string kOfSecondAxis = "attribute { name: 'axis' type: INT i: 1 }";

std::string position_nodes(int rows) {
  return kSizeNodes + real_numbers("p", {rows, 16}) +
         operation_text("Slice", "'p', 'zero', 'n', 'zero'", "q");
}

// An operation on the rows as the last dimension of t.
std::string along_rows(const std::string& operation, const std::string& inputs,
                       const std::string& more) {
  const std::string turned = "attribute { name: 'perm' type: INTS ints: [0, 2, 1] }";
  return operation_text("Transpose", "'x'", "t", turned) +
         operation_text(operation, inputs, "made", more) +
         operation_text("Transpose", "'made'", "y", turned);
}

// Twice as many.
std::string resized_rows(const std::string& mode, const std::string& coordinates) {
  return "initializer { name: 'times' data_type: 1 dims: 3 float_data: [1, 1, 2] }\n" +
         along_rows("Resize", "'t', '', 'times'",
                    fmt::format("attribute {{ name: 'mode' type: STRING s: '{}' }} "
                                "attribute {{ name: 'nearest_mode' type: STRING s: 'floor' }} "
                                "attribute {{ name: 'coordinate_transformation_mode' "
                                "type: STRING s: '{}' }}",
                                mode, coordinates));
}

std::string body_text(const std::string& nodes, const std::string& inputs,
                      const std::string& outputs) {
  std::string text = "attribute { name: 'body' type: GRAPH g { name: 'body' " + nodes;
  for (const std::string& name : split_words(inputs)) text += "input { name: '" + name + "' } ";
  for (const std::string& name : split_words(outputs)) text += "output { name: '" + name + "' } ";
  return text + "} }";
}

// A step of a state h with what is read at the step, as r.
const std::string kStepNodes =
    operation_text("Sub", "'r', 'h'", "d") + operation_text("Tanh", "'d'", "g");
const std::string kFirstState =
    whole_numbers("second", {1}) + operation_text("ReduceSum", "'x', 'second'", "first",
                                                  "attribute { name: 'keepdims' type: INT i: 0 }");

// y, of 5 columns: dequantised bytes are multiplied, and the product is bytes again.
std::string whole_product_nodes() {
  std::vector<int> weights;
  for (int i = 0; i < 16 * 5; ++i) weights.push_back(i * 37 % 255 - 127);
  const auto number = [](const std::string& name, double value) {
    return operation_text(
        "Constant", "", name,
        fmt::format("attribute {{ name: 'value_float' type: FLOAT f: {} }}", value));
  };
  const auto bytes = [](const std::string& name, int type, const std::string& dimensions,
                        const std::vector<int>& values) {
    return operation_text("Constant", "", name,
                          fmt::format("attribute {{ name: 'value' type: TENSOR t {{ data_type: {} "
                                      "dims: [{}] int32_data: [{}] }} }}",
                                      type, dimensions, fmt::join(values, ", ")));
  };
  return number("xs", 0.05) + number("ws", 0.01) + number("ys", 0.25) + bytes("xz", 2, "", {60}) +
         bytes("yz", 2, "", {130}) + bytes("w", 3, "16, 5", weights) +
         operation_text("QuantizeLinear", "'x', 'xs', 'xz'", "q") +
         operation_text("DequantizeLinear", "'q', 'xs', 'xz'", "d") +
         operation_text("DequantizeLinear", "'w', 'ws'", "v") +
         operation_text("MatMul", "'d', 'v'", "p") +
         operation_text("QuantizeLinear", "'p', 'ys', 'yz'", "b") +
         operation_text("DequantizeLinear", "'b', 'ys', 'yz'", "y");
}

struct FreeSizesCase {
  const char* name;
  std::string nodes;  // of x: [batch, n, 16 or k] and y
  FreeDimension range;
  bool is_one = true;                         // the same model at all sizes, so it must compile
  bool has_same_kernels = true;               // as at one size
  std::optional<FreeDimension> columns = {};  // in place of the 16
};

void PrintTo(const FreeSizesCase& one, std::ostream* out) { *out << one.name; }

// As many pools as a U-Net has levels; then each level up again joins what is left of its level,
// at whose end is a zero for a row that the pool left out.
std::string unet_nodes(int levels) {
  std::string nodes = whole_numbers("zero", {0}) + whole_numbers("two", {2}) +
                      whole_numbers("three", {3}) + real_numbers("w", {16, 16, 2});
  const std::string turned = "attribute { name: 'perm' type: INTS ints: [0, 2, 1] }";
  const std::string by_two = "attribute { name: 'strides' type: INTS ints: [2] }";
  nodes += operation_text("Transpose", "'x'", "x0", turned);
  for (int i = 0; i < levels; ++i) {
    nodes += operation_text("MaxPool", fmt::format("'x{}'", i), fmt::format("x{}", i + 1),
                            "attribute { name: 'kernel_shape' type: INTS ints: [2] }" + by_two);
  }
  std::string up = fmt::format("x{}", levels);
  const auto rows = [&](const std::string& of, const std::string& name) {
    return operation_text("Shape", fmt::format("'{}'", of), name + "_all") +
           operation_text("Slice", fmt::format("'{}_all', 'two', 'three', 'zero'", name), name);
  };
  for (int i = levels; i-- > 0;) {
    nodes +=
        operation_text("ConvTranspose", fmt::format("'{}', 'w'", up), fmt::format("u{}", i),
                       by_two) +
        rows(fmt::format("x{}", i), fmt::format("n{}", i)) +
        rows(fmt::format("u{}", i), fmt::format("m{}", i)) +
        operation_text("Sub", fmt::format("'n{0}', 'm{0}'", i), fmt::format("d{}", i)) +
        operation_text("Concat", fmt::format("'zero', 'zero', 'zero', 'zero', 'zero', 'd{}'", i),
                       fmt::format("p{}", i), "attribute { name: 'axis' type: INT i: 0 }") +
        operation_text("Pad", fmt::format("'u{0}', 'p{0}'", i), fmt::format("v{}", i)) +
        operation_text("Add", fmt::format("'x{0}', 'v{0}'", i), fmt::format("s{}", i));
    up = fmt::format("s{}", i);
  }
  return nodes + operation_text("Transpose", fmt::format("'{}'", up), "y", turned);
}

// Of one level. It pads rows where they are odd, and columns where these are.
std::string image_unet_nodes() {
  const std::string by_two = "attribute { name: 'strides' type: INTS ints: [2, 2] }";
  const auto sizes = [](const std::string& of, const std::string& name) {
    return operation_text("Shape", fmt::format("'{}'", of), name,
                          "attribute { name: 'start' type: INT i: 2 }");
  };
  return whole_numbers("axis", {1}) + whole_numbers("none", {0, 0, 0, 0, 0, 0}) +
         real_numbers("w", {1, 1, 2, 2}) + real_numbers("v", {1, 1, 3, 3}) +
         operation_text("Unsqueeze", "'x', 'axis'", "image") +
         operation_text("MaxPool", "'image'", "low",
                        "attribute { name: 'kernel_shape' type: INTS ints: [2, 2] }" + by_two) +
         operation_text("ConvTranspose", "'low', 'w'", "high", by_two) + sizes("image", "s") +
         sizes("high", "t") + operation_text("Sub", "'s', 't'", "d") +
         operation_text("Concat", "'none', 'd'", "p", "attribute { name: 'axis' type: INT i: 0 }") +
         operation_text("Pad", "'high', 'p'", "whole") +
         operation_text("Conv", "'whole', 'v'", "made",
                        "attribute { name: 'pads' type: INTS ints: [1, 1, 1, 1] }") +
         operation_text("Squeeze", "'made', 'axis'", "y");
}

std::vector<FreeSizesCase> nets_of_free_sizes() {
  const std::string slice =
      whole_numbers("one", {1}) + whole_numbers("zero", {0}) + whole_numbers("all", {9999});
  return {
      {"last_three",
       slice + whole_numbers("from", {-3}) +
           operation_text("Slice", "'x', 'from', 'all', 'one'", "y"),
       {"n", 1, 64},
       false},
      {"sum_of_the_first_three",
       slice + whole_numbers("three", {3}) +
           operation_text("Slice", "'x', 'zero', 'three', 'one'", "a") +
           operation_text("ReduceSum", "'a', 'one'", "y"),
       {"n", 1, 64},
       false},
      {"quotient_by_at_least_one",
       kSizeNodes + operation_text("Sub", "'n', 'one'", "less") +
           operation_text("Max", "'less', 'one'", "most") +
           operation_text("Cast", "'most'", "real", kToReal) +
           operation_text("Div", "'x', 'real'", "y"),
       {"n", 1, 64},
       false},
      {"zero_for_one_row",
       kSizeNodes + operation_text("Equal", "'n', 'one'", "is") +
           operation_text("Cast", "'zero'", "real", kToReal) +
           operation_text("Where", "'is', 'real', 'x'", "y"),
       {"n", 1, 64},
       false},
      {"doubled_for_29_rows",
       kSizeNodes + constant("special", 29) + operation_text("Equal", "'n', 'special'", "is") +
           operation_text("Add", "'x', 'x'", "twice") +
           operation_text("Where", "'is', 'twice', 'x'", "y"),
       {"n", 1, 64},
       false},
      // As other exporters write it.
      {"doubled_for_29_rows_of_an_initializer",
       kSizeNodes + whole_numbers("special", {29}) +
           operation_text("Equal", "'n', 'special'", "is") +
           operation_text("Add", "'x', 'x'", "twice") +
           operation_text("Where", "'is', 'twice', 'x'", "y"),
       {"n", 1, 64}},
      {"weight_times_size",
       kSizeNodes + real_numbers("w", {16}) + operation_text("Cast", "'n'", "real", kToReal) +
           operation_text("Mul", "'w', 'real'", "v") + operation_text("Add", "'x', 'v'", "y"),
       {"n", 1, 64},
       false},
      {"all_positions",
       position_nodes(128) + operation_text("Add", "'x', 'q'", "y"),
       {"n", 1, 128}},
      {"all_positions_and_places",
       position_nodes(128) +
           "initializer { name: 'from' data_type: 7 int64_data: 0 }\n"
           "initializer { name: 'by' data_type: 7 int64_data: 1 }\n" +
           operation_text("Squeeze", "'n'", "limit") +
           operation_text("Range", "'from', 'limit', 'by'", "places") +
           operation_text("Gather", "'x', 'places'", "g", kOfSecondAxis) +
           operation_text("Add", "'g', 'q'", "y"),
       {"n", 1, 128},
       false},
      {"cumulated",
       whole_numbers("one", {1}) + operation_text("CumSum", "'x', 'one'", "y"),
       {"n", 1, 64}},
      {"product_of_bytes", whole_product_nodes(), {"n", 1, 64}},
      {"attention",
       operation_text("Transpose", "'x'", "t",
                      "attribute { name: 'perm' type: INTS ints: [0, 2, 1] }") +
           operation_text("MatMul", "'x', 't'", "s") + operation_text("Softmax", "'s'", "p") +
           operation_text("MatMul", "'p', 'x'", "y"),
       {"n", 1, 64}},
      // As models of sets take the nearest: a row's places begin at its number times n.
      {"places_in_all_rows_of_a_batch",
       kSizeNodes + whole_numbers("few", {4}) + whole_numbers("column", {-1, 1, 1}) +
           whole_numbers("flat", {-1}) + whole_numbers("wide", {-1, 16}) +
           "initializer { name: 'from' data_type: 7 int64_data: 0 }\n"
           "initializer { name: 'by' data_type: 7 int64_data: 1 }\n" +
           operation_text("Transpose", "'x'", "t",
                          "attribute { name: 'perm' type: INTS ints: [0, 2, 1] }") +
           operation_text("MatMul", "'x', 't'", "d") +
           "node { op_type: 'TopK' input: ['d', 'few'] output: ['v', 'i'] }\n" +
           operation_text("Slice", "'sizes', 'zero', 'one', 'zero'", "rows") +
           operation_text("Squeeze", "'rows'", "limit") +
           operation_text("Range", "'from', 'limit', 'by'", "row") +
           operation_text("Reshape", "'row', 'column'", "r") +
           operation_text("Mul", "'r', 'n'", "begin") +
           operation_text("Add", "'i', 'begin'", "places") +
           operation_text("Reshape", "'places', 'flat'", "p") +
           operation_text("Reshape", "'x', 'wide'", "all") +
           operation_text("Gather", "'all', 'p'", "g") +
           operation_text("Concat", "'rows', 'wide'", "shape",
                          "attribute { name: 'axis' type: INT i: 0 }") +
           operation_text("Reshape", "'g', 'shape'", "y"),
       {"n", 4, 64}},
      {"largest_60",
       kSizeNodes + whole_numbers("most", {60}) + operation_text("Min", "'n', 'most'", "k") +
           "node { op_type: 'TopK' input: ['x', 'k'] output: ['y', 'i'] " + kOfSecondAxis + " }\n",
       {"n", 1, 60}},
      // Two sizes are left below the border.
      {"largest_three_beside_columns",
       kSizeNodes + whole_numbers("most", {3}) + operation_text("Min", "'n', 'most'", "k") +
           "node { op_type: 'TopK' input: ['x', 'k'] output: ['y', 'i'] " + kOfSecondAxis + " }\n",
       {"n", 1, 20},
       true,
       true,
       FreeDimension{"k", 1, 30}},
      // Rows end where numbers say, so it is no kernel of all steps. Fewer than five steps are
      // written out, with weights in another order.
      {"recurrent_with_lengths",
       real_numbers("w", {1, 64, 16}) + real_numbers("u", {1, 64, 16}) + kFirstState +
           operation_text("Transpose", "'x'", "t",
                          "attribute { name: 'perm' type: INTS ints: [1, 0, 2] }") +
           operation_text("ReduceMax", "'first'", "most",
                          "attribute { name: 'axes' type: INTS ints: [1] } "
                          "attribute { name: 'keepdims' type: INT i: 0 }") +
           operation_text("Cast", "'most'", "ends", "attribute { name: 'to' type: INT i: 6 }") +
           operation_text("LSTM", "'t', 'w', 'u', '', 'ends'", "all",
                          "attribute { name: 'hidden_size' type: INT i: 16 }") +
           operation_text("Squeeze", "'all', 'second'", "s") +
           operation_text("Transpose", "'s'", "y",
                          "attribute { name: 'perm' type: INTS ints: [1, 0, 2] }"),
       {"n", 5, 64}},
      {"scan",
       kFirstState +
           "node { op_type: 'Scan' input: ['first', 'x'] output: ['last', 'y'] "
           "attribute { name: 'num_scan_inputs' type: INT i: 1 } "
           "attribute { name: 'scan_input_axes' type: INTS ints: [1] } "
           "attribute { name: 'scan_output_axes' type: INTS ints: [1] } " +
           body_text(kStepNodes, "h r", "g d") + " }\n",
       {"n", 1, 64}},
      // Its turns are few enough to be written out at the sizes that are tried first.
      {"loop",
       kSizeNodes + kFirstState + operation_text("Squeeze", "'n'", "limit") +
           "initializer { name: 'yes' data_type: 9 int32_data: 1 }\n"
           "node { op_type: 'Loop' input: ['limit', 'yes', 'first'] output: ['last', 'all'] " +
           body_text(operation_text("Gather", "'x', 'i'", "r", kOfSecondAxis) + kStepNodes +
                         operation_text("Identity", "'c'", "on"),
                     "i c h", "on g d") +
           " }\n" +
           operation_text("Transpose", "'all'", "y",
                          "attribute { name: 'perm' type: INTS ints: [1, 0, 2] }"),
       {"n", 1, 64}},
      // With paddings, but where four divides n.
      {"strides_of_four",
       real_numbers("w", {16, 16, 3}) +
           operation_text("Transpose", "'x'", "t",
                          "attribute { name: 'perm' type: INTS ints: [0, 2, 1] }") +
           operation_text("Conv", "'t', 'w'", "c",
                          "attribute { name: 'auto_pad' type: STRING s: 'SAME_UPPER' } "
                          "attribute { name: 'strides' type: INTS ints: [4] }") +
           operation_text("Transpose", "'c'", "y",
                          "attribute { name: 'perm' type: INTS ints: [0, 2, 1] }"),
       {"n", 1, 64}},
      {"strides_of_three",
       slice + whole_numbers("three", {3}) +
           operation_text("Slice", "'x', 'zero', 'all', 'one', 'three'", "y"),
       {"n", 1, 64}},
      // As graph pooling keeps them.
      {"four_of_five_rows",
       kSizeNodes + constant("four", 4) + constant("five", 5) +
           operation_text("Mul", "'n', 'four'", "fours") +
           operation_text("Add", "'fours', 'four'", "more") +
           operation_text("Div", "'more', 'five'", "kept") +
           operation_text("Slice", "'x', 'zero', 'kept', 'one'", "y"),
       {"n", 1, 64}},
      {"strides_of_sixteen",
       slice + whole_numbers("by", {16}) +
           operation_text("Slice", "'x', 'zero', 'all', 'one', 'by'", "y"),
       {"n", 1, 64}},
      // Whether 1 / count is exact differs from one count to the next.
      {"mean_of_every_twelfth_row",
       slice + whole_numbers("by", {12}) +
           operation_text("Slice", "'x', 'zero', 'all', 'one', 'by'", "few") +
           operation_text("ReduceMean", "'few'", "y",
                          "attribute { name: 'axes' type: INTS ints: [1] }"),
       {"n", 16, 90}},
      {"as_many_rows_as_dozens_fit_twice",
       kSizeNodes + constant("two_dozens", 24) +
           operation_text("Div", "'n', 'two_dozens'", "kept") +
           operation_text("Slice", "'x', 'zero', 'kept', 'one'", "y"),
       {"n", 24, 64}},
      {"plus_the_logarithm_of_the_size",
       kSizeNodes + operation_text("Cast", "'n'", "real", kToReal) +
           operation_text("Log", "'real'", "log") + operation_text("Add", "'x', 'log'", "y"),
       {"n", 1, 64}},
      {"means_without_padding",
       along_rows("AveragePool", "'t'",
                  "attribute { name: 'kernel_shape' type: INTS ints: [5] } "
                  "attribute { name: 'pads' type: INTS ints: [2, 2] }"),
       {"n", 1, 64}},
      {"means_of_three_by_two",
       along_rows("AveragePool", "'t'",
                  "attribute { name: 'kernel_shape' type: INTS ints: [3] } "
                  "attribute { name: 'strides' type: INTS ints: [2] } "
                  "attribute { name: 'pads' type: INTS ints: [1, 1] } "
                  "attribute { name: 'ceil_mode' type: INT i: 1 }"),
       {"n", 2, 64}},
      {"repeated_rows", resized_rows("nearest", "asymmetric"), {"n", 1, 64}},
      {"nearest_rows", resized_rows("nearest", "half_pixel"), {"n", 1, 64}},
      {"interpolated_rows", resized_rows("linear", "half_pixel"), {"n", 1, 64}, true, false},
      {"at_least_30_rows",
       kSizeNodes + whole_numbers("least", {30}) + operation_text("Sub", "'least', 'n'", "d0") +
           operation_text("Max", "'d0', 'zero'", "d") +
           operation_text("Concat", "'zero', 'zero', 'zero', 'zero', 'd', 'zero'", "p",
                          "attribute { name: 'axis' type: INT i: 0 }") +
           operation_text("Pad", "'x', 'p'", "y"),
       {"n", 1, 64}},
      // The input itself, where it has no more.
      {"first_nine_rows",
       kSizeNodes + whole_numbers("most", {9}) + operation_text("Min", "'n', 'most'", "end") +
           operation_text("Slice", "'x', 'zero', 'end', 'one'", "y"),
       {"n", 1, 64}},
      {"product_of_no_rows",
       operation_text("Transpose", "'x'", "t",
                      "attribute { name: 'perm' type: INTS ints: [0, 2, 1] }") +
           operation_text("MatMul", "'t', 'x'", "s") + operation_text("MatMul", "'x', 's'", "y"),
       {"n", 0, 6},
       true,
       true,
       FreeDimension{"k", 1, 7}},
      // At a size that no comparison names.
      {"only_29_rows",
       kSizeNodes + constant("below", 28) + constant("above", 30) +
           operation_text("Greater", "'n', 'below'", "more") +
           operation_text("Less", "'n', 'above'", "less") +
           operation_text("And", "'more', 'less'", "is") + operation_text("Relu", "'x'", "r") +
           operation_text("Where", "'is', 'r', 'x'", "y"),
       {"n", 1, 64}},
      {"near_29_rows",
       kSizeNodes + constant("middle", 29) + constant("limit", 2) +
           operation_text("Sub", "'n', 'middle'", "d") + operation_text("Abs", "'d'", "far") +
           operation_text("Less", "'far', 'limit'", "is") + operation_text("Relu", "'x'", "r") +
           operation_text("Where", "'is', 'r', 'x'", "y"),
       {"n", 1, 64}},
      {"only_where_rows_and_columns_are_as_many",
       kSizeNodes + whole_numbers("three", {3}) +
           operation_text("Slice", "'sizes', 'two', 'three', 'zero'", "k") +
           operation_text("Equal", "'n', 'k'", "is") + operation_text("Relu", "'x'", "r") +
           operation_text("Where", "'is', 'r', 'x'", "y"),
       {"n", 1, 64},
       false,
       true,
       FreeDimension{"k", 1, 64}},
      {"times_the_size_and_a_weight_of_one_element",
       kSizeNodes + real_numbers("c", {1}) + operation_text("Cast", "'n'", "real", kToReal) +
           operation_text("Mul", "'real', 'c'", "factor") +
           operation_text("Mul", "'x', 'factor'", "y"),
       {"n", 1, 64}},
      {"last_window_of_a_pool_is_larger",
       along_rows("MaxPool", "'t'",
                  "attribute { name: 'kernel_shape' type: INTS ints: [5] } "
                  "attribute { name: 'strides' type: INTS ints: [3] } "
                  "attribute { name: 'ceil_mode' type: INT i: 1 }"),
       {"n", 3, 64}},
      {"unet_of_one_level", unet_nodes(1), {"n", 2, 64}},
      {"unet_of_two_levels", unet_nodes(2), {"n", 4, 64}},
      {"unet_of_images", image_unet_nodes(), {"n", 2, 24}, true, true, FreeDimension{"k", 2, 27}},
  };
}

// The bytes of scratch memory of the kernel that has most.
std::int64_t most_scratch(const xla::HloModule& module) {
  std::int64_t most = 0;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* one : computation->instructions()) {
      if (one->opcode() == kCustomCall) most = std::max(most, kernel_scratch_bytes(*one));
    }
  }
  return most;
}

class FreeSizes : public ::testing::TestWithParam<FreeSizesCase> {
 protected:
  FreeSizes()
      : file_(tensor_text("input", "x", {"batch", "n", GetParam().columns ? "k" : "16"}) +
              tensor_text("output", "y", {"batch", "m", GetParam().columns ? "j" : "16"}) +
              GetParam().nodes) {
    job_.format = ModelFormat::kOnnx;
    job_.source = file_.path();
    job_.free_dimensions = {GetParam().range};
    if (GetParam().columns) job_.free_dimensions.push_back(*GetParam().columns);
    loaded_ = load_at_sizes(job_, {}, default_sizes(job_.free_dimensions)).value();
    const std::vector<RawWeight>& raw = loaded_.lowering->weights();
    weights_ = WeightStore::create(files_, folder_.path(), raw).value();
  }

  Result<OptimizedModel> for_all_sizes(std::int64_t rows) {
    const Choices choices{.smallest_free_size = 1};
    const LoweringOptions options;
    return optimize_for_free_sizes({job_, options, rows, found_, choices, Traces::kRemoved,
                                    *weights_, loaded_.lowering->weights()});
  }

  // With so many rows, and columns beside them if these are free.
  Dimensions sizes_at(std::int64_t n) const {
    if (!GetParam().columns) return {n};
    return {n,
            std::clamp(n + n / 2 % 2, GetParam().columns->smallest, GetParam().columns->largest)};
  }

  OptimizedModel at_size(std::int64_t n) {
    const LoadedSizes loaded = load_at_sizes(job_, {}, sizes_at(n)).value();
    // The test gives weights other numbers, so none may be joined with a size.
    const Choices choices{.folds_single = false};
    return optimize(loaded.lowering->lower(1).value(), *weights_, choices).value();
  }

  static std::string numbers(std::int64_t count, std::int64_t start) {
    std::string text;
    for (std::int64_t i = 0; i < count; ++i) {
      text += fmt::format(" {}", static_cast<double>((start + i) * 37 % 101 - 50) / 16);
    }
    return text;
  }

  RealFileSystem files_;
  const testing::TemporaryFolder folder_;
  const OnnxFile file_;
  JobModel job_;
  LoadedSizes loaded_;
  std::optional<WeightStore> weights_;
  FoundSizes found_{.has_form = true};
};

TEST_P(FreeSizes, HaveTheNumbersOfEachSize) {
  const auto sized = for_all_sizes(1);
  if (!sized) {
    EXPECT_FALSE(GetParam().is_one) << sized.error().text();
    return;
  }
  const std::size_t pieces = found_.pieces.size();
  const auto of_batch = for_all_sizes(4);
  EXPECT_TRUE(of_batch) << of_batch.error().text();
  EXPECT_EQ(found_.pieces.size(), pieces);
  const auto module = make_module(sized->computation.proto()).value();
  EXPECT_TRUE(xla::HloVerifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/false)
                  .Run(module.get())
                  .ok());
  // Memory of an output is no longer than what records allow.
  const xla::Shape made = module->entry_computation()->root_instruction()->shape().tuple_shapes(0);
  EXPECT_LE(product(made.dimensions()), product(sized->outputs[0].row_shape) + kElementsBeyond);
  const FreeDimension& range = GetParam().range;
  std::int64_t scratch = 0;  // at any of the sizes
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 6, 7, 16, 29, 60, 64, 127, 128}) {
    if (n < range.smallest || n > range.largest) continue;
    const auto fixed = make_module(at_size(n).computation.proto()).value();
    if (GetParam().has_same_kernels) {
      EXPECT_GE(most_scratch(*module), most_scratch(*fixed)) << "n = " << n;
    }
    scratch = std::max(scratch, most_scratch(*fixed));
    std::vector<std::string> of_fixed;
    std::vector<std::string> of_sized;
    const auto* const entry = module->entry_computation();
    for (const auto* one : fixed->entry_computation()->parameter_instructions()) {
      const std::int64_t i = one->parameter_number();
      const std::int64_t most = elements_of(*entry->parameter_instruction(i));
      if (sizes_at(n) == default_sizes(job_.free_dimensions) && i == 0) {
        constexpr std::int64_t kBeyond = 256;  // no more than code may read behind the last row
        EXPECT_LE(most, elements_of(*one) + kBeyond);
      }
      of_fixed.push_back(numbers(elements_of(*one), 7 * i));
      of_sized.push_back(numbers(i == 0 ? elements_of(*one) : most, 7 * i));
      for (std::int64_t k = elements_of(*one); i == 0 && k < most; ++k) of_sized[0] += " nan";
    }
    of_sized.push_back(fmt::format("{}", fmt::join(sizes_at(n), " ")));
    auto wanted = testing::numbers_of(result_with_kernels(*fixed, of_fixed));
    auto found = testing::numbers_of(result_with_kernels(*module, of_sized));
    ASSERT_GE(found.size(), wanted.size());
    found.resize(wanted.size());
    EXPECT_THAT(found, ::testing::Pointwise(::testing::NanSensitiveDoubleNear(1e-5), wanted))
        << "n = " << n;
  }
  // Between these sizes, blocks of rows may be larger.
  EXPECT_LE(most_scratch(*module), 2 * scratch);
}

// The 16 largest of n + k numbers: with the fewest k, too.
class FreeSizesOfTopK : public FreeSizes {};

TEST_P(FreeSizesOfTopK, BeginWhereTheOthersAreSmallest) {
  const auto sized = for_all_sizes(1);
  ASSERT_FALSE(sized);
  EXPECT_THAT(sized.error().text(),
              ::testing::HasSubstr("the smallest size that works is 15: n=15..50"));
}

INSTANTIATE_TEST_SUITE_P(
    Nets, FreeSizesOfTopK,
    ::testing::Values(FreeSizesCase{
        "of_two_sets",
        whole_numbers("two", {2}) + whole_numbers("few", {16}) +
            operation_text("ReduceMax", "'x'", "a",
                           "attribute { name: 'axes' type: INTS ints: [2] } attribute { name: "
                           "'keepdims' type: INT i: 0 }") +
            operation_text("ReduceMax", "'x'", "b",
                           "attribute { name: 'axes' type: INTS ints: [1] } attribute { name: "
                           "'keepdims' type: INT i: 0 }") +
            operation_text("Concat", "'a', 'b'", "all", kOfSecondAxis) +
            "node { op_type: 'TopK' input: ['all', 'few'] output: ['v', 'i'] }\n" +
            operation_text("Unsqueeze", "'v', 'two'", "y"),
        {"n", 1, 50},
        true,
        true,
        FreeDimension{"k", 1, 10}}),
    [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(Nets, FreeSizes, ::testing::ValuesIn(nets_of_free_sizes()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tfaot::toolkit::engine
