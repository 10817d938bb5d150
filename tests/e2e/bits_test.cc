// SPDX-License-Identifier: Apache-2.0
// `tfaot validate --bits` with the real engine: a row of these models has the same bits in every
// batch, thread and at every CPU level, and the same as on the machines that ran this test before.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tfaot/records/manifest_json.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Models of all kinds of layers. Their hashes are in the repository.
constexpr const char* kKeepTheirBits[] = {
    "activations",        "attention",        "convolution",     "convolutions",
    "coupled_rows",       "dtypes",           "fixed_batch",     "folding",
    "frozen_graph",       "frozen_trained",   "gather_reduce",   "half_floats",
    "keras_export",       "many_weights",     "masked_rows",     "masks",
    "mixed_bfloat16",     "mixed_float16",    "more_dtypes",     "pairs",
    "pooled_activations", "pooling",          "products",        "ranks",
    "recurrent",          "recurrent_layers", "recurrent_loops", "resizing",
    "row_lookups",        "row_loops",        "signatures_norm", "transforms",
    "onnx/channels",      "onnx/dense",       "onnx/events",     "onnx/halves",
    "onnx/normalised",    "onnx/quantized",   "onnx/tracks",     "onnx/whole"};

class BitsTest : public ToolTest {
 protected:
  json bits_of(const std::string& name) const {
    const bool is_onnx = name.starts_with("onnx/");
    const std::string path =
        is_onnx ? TFAOT_ONNX_MODELS "/" + name.substr(5) + "/aot_config.yaml" : config(name);
    const std::string package = name.substr(name.find('/') + 1);
    done({"compile", "-c", path, "-o", package, "-q"});
    const ProcessResult result = tool({"validate", package, "--bits", "--json", "-q"});
    EXPECT_TRUE(result.ok()) << name << "\n" << result.standard_error << result.standard_output;
    return json::parse(result.standard_output, nullptr, false);
  }

  void expect_same_bits(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files_.replace_atomically(root_ / (name + ".mlir"), text));
    done({"compile", name + ".mlir", "-o", name, "--batch-sizes", "1,3", "-q"});
    const json found = json::parse(
        tool({"validate", name, "--bits", "--json", "-q"}).standard_output, nullptr, false);
    ASSERT_TRUE(found.is_object()) << name;
    EXPECT_EQ(found["passed"], true) << name << found["differences"];
  }
};

// A line of the file: "frozen_graph x86-64-v3 <sha256>".
std::map<std::string, std::string> stored_hashes() {
  std::map<std::string, std::string> hashes;
  const RealFileSystem files;
  const auto text = files.read(TFAOT_GOLDEN_DIR "/e2e/bits.txt");
  for (const std::string& line : split_lines(text.value_or(""))) {
    const std::size_t end = line.rfind(' ');
    if (end != std::string::npos) hashes[line.substr(0, end)] = line.substr(end + 1);
  }
  return hashes;
}

TEST_F(BitsTest, HashesAreThoseOfTheRepository) {
  // This machine may run fewer levels than the one that wrote the file.
  std::map<std::string, std::string> hashes = stored_hashes();
  for (const std::string name : kKeepTheirBits) {
    const json found = bits_of(name);
    ASSERT_TRUE(found.is_object()) << name;
    EXPECT_EQ(found["passed"], true) << found["differences"];
    for (const json& one : found["outputs"]) {
      for (const std::string level : one["cpu_levels"]) {
        hashes[name + " " + level] = one["sha256"];
      }
    }
  }
  std::string text;
  for (const auto& [key, sha256] : hashes) text += key + " " + sha256 + "\n";
  EXPECT_TRUE(matches_golden(text, "e2e/bits.txt"));
}

TEST_F(BitsTest, OtherWeightsHaveOtherHashes) {
  const json one = bits_of("frozen_trained");
  const json other = bits_of("frozen_retrained");
  EXPECT_EQ(one["inputs"], other["inputs"]);
  EXPECT_NE(one["outputs"][0]["sha256"], other["outputs"][0]["sha256"]);
}

// The command of the docs, and what `tfaot info` shows of it.
TEST_F(BitsTest, AreRecorded) {
  done({"compile", "-c", config("frozen_graph"), "-o", "net", "-q"});
  done({"validate", "net", "--bits", "--record", "-q"});
  EXPECT_THAT(done({"info", "net"}), HasSubstr("a row has the same bits in batches of 1 to 64"));
}

// A sum over the batch chooses a branch, with the same choice in all trial runs.
TEST_F(BitsTest, OfRowsThatMayMixAreNotPromised) {
  EXPECT_THAT(
      done({"check", config("branches"), "-q"}),
      HasSubstr("same bits  a row in any batch and thread, unless rows mix (see the warnings)"));
}

// Code for each size has its number of rows in it. The number of a row says nothing.
constexpr const char* kScaledByRows = R"(module {
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %rows = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %millionth = stablehlo.constant dense<1.0e-06> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %little = stablehlo.multiply %rows, %millionth : tensor<f32>
    %scale = stablehlo.add %little, %one : tensor<f32>
    %size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %width = stablehlo.constant dense<4> : tensor<1xi32>
    %shape = stablehlo.concatenate %size, %width, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %scales = stablehlo.dynamic_broadcast_in_dim %scale, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %number = stablehlo.dynamic_iota %size, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %square = stablehlo.multiply %number, %number : tensor<?xi32>
    %least = stablehlo.constant dense<-1> : tensor<i32>
    %leasts = stablehlo.dynamic_broadcast_in_dim %least, %size, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %is = stablehlo.compare GT, %square, %leasts : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %are = stablehlo.dynamic_broadcast_in_dim %is, %shape, dims = [0] : (tensor<?xi1>, tensor<2xi32>) -> tensor<?x4xi1>
    %chosen = stablehlo.select %are, %x, %scales : tensor<?x4xi1>, tensor<?x4xf32>
    %size_of = stablehlo.abs %chosen : tensor<?x4xf32> loc("net/size")
    %scaled = stablehlo.multiply %size_of, %scales : tensor<?x4xf32> loc("net/scaled")
    %y = stablehlo.cosine %scaled : tensor<?x4xf32> loc("net/wave")
    return %y : tensor<?x4xf32>
  }
})";

TEST_F(BitsTest, TheFirstOperationThatDiffersIsNamed) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "scaled.mlir", kScaledByRows));
  done({"compile", "scaled.mlir", "-o", "net", "--batch-sizes", "1,4", "--rows", "coupled", "-q"});
  // As if the compiler had not seen that a row depends on the others.
  const Path file = root_ / "net/manifest.json";
  auto manifest = read_manifest(files_, file);
  ASSERT_TRUE(manifest) << manifest.error().text();
  manifest->rows = RowsMode::kAlone;
  ASSERT_TRUE(files_.replace_atomically(file, manifest_to_json(*manifest)));
  const ProcessResult result =
      tool({"validate", "net", "--bits", "--model", "scaled.mlir", "--json", "-q"});
  EXPECT_EQ(result.exit_code, 1) << result.standard_output << result.standard_error;
  const json found = json::parse(result.standard_output, nullptr, false);
  ASSERT_TRUE(found.is_object()) << result.standard_error;
  ASSERT_FALSE(found["operations"].empty()) << result.standard_error << found["differences"];
  for (const json& one : found["operations"]) {
    EXPECT_EQ(one["changed"], "batches");
    EXPECT_EQ(one["size"], 4);
    EXPECT_EQ(one["kind"], "multiply");
    EXPECT_THAT(one["origin"].get<std::string>(), HasSubstr("net/scaled"));
    EXPECT_EQ(one["shape"], json::parse("[4, 4]"));
    EXPECT_GT(one["unequal"], 0);
  }
}

// From 1 to 2, in float32 as bytes.
std::string some_numbers(std::size_t count) {
  std::string text = "\"0x";
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("0000{:02x}3f", 128 + i * 37 % 128);
  return text + '"';
}

// The points of all rows are multiplied at once. For a row alone, a transpose could move through
// the reshape that joins them, and the next sum would add in another order than in a batch.
std::string points_model(const std::string& type, const std::string& result) {
  return "module {\n  func.func @main(%x: tensor<?x12x33xf32>) -> " + type + R"( {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x12x33xf32>) -> tensor<i32>
    %points = stablehlo.constant dense<33> : tensor<i32>
    %all = stablehlo.multiply %n, %points : tensor<i32>
    %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %joined = stablehlo.reshape %all : (tensor<i32>) -> tensor<1xi32>
    %c12 = stablehlo.constant dense<12> : tensor<1xi32>
    %c20 = stablehlo.constant dense<20> : tensor<1xi32>
    %c33 = stablehlo.constant dense<33> : tensor<1xi32>
    %c660 = stablehlo.constant dense<660> : tensor<1xi32>
    %joined_sizes = stablehlo.concatenate %joined, %c12, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %sizes = stablehlo.concatenate %rows, %c33, %c20, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %flat_sizes = stablehlo.concatenate %rows, %c660, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.constant dense<)" +
         some_numbers(12 * 20) + R"(> : tensor<12x20xf32>
    %v = stablehlo.constant dense<)" +
         some_numbers(660 * 7) + R"(> : tensor<660x7xf32>
    %t = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<?x12x33xf32>) -> tensor<?x33x12xf32>
    %p = stablehlo.dynamic_reshape %t, %joined_sizes : (tensor<?x33x12xf32>, tensor<2xi32>) -> tensor<?x12xf32>
    %d = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0] : (tensor<?x12xf32>, tensor<12x20xf32>) -> tensor<?x20xf32>
    %e = stablehlo.abs %d : tensor<?x20xf32>
    %y = stablehlo.dynamic_reshape %e, %sizes : (tensor<?x20xf32>, tensor<3xi32>) -> tensor<?x33x20xf32>
    %flat = stablehlo.dynamic_reshape %y, %flat_sizes : (tensor<?x33x20xf32>, tensor<2xi32>) -> tensor<?x660xf32>
    %z = stablehlo.)" +
         result + "\n    return %z : " + type + "\n  }\n}\n";
}

TEST_F(BitsTest, SumsOverPointsHaveOneOrder) {
  const auto sum = [](const std::string& axis, const std::string& type) {
    return points_model(type, "reduce(%y init: %zero) applies stablehlo.add across dimensions = [" +
                                  axis + "] : (tensor<?x33x20xf32>, tensor<f32>) -> " + type);
  };
  const std::map<std::string, std::string> models = {
      {"of_points", sum("1", "tensor<?x20xf32>")},
      {"of_channels", sum("2", "tensor<?x33xf32>")},
      {"of_all", sum("1, 2", "tensor<?xf32>")},
      {"weighted", points_model("tensor<?x7xf32>",
                                "dot_general %flat, %v, contracting_dims = [1] x [0] : "
                                "(tensor<?x660xf32>, tensor<660x7xf32>) -> tensor<?x7xf32>")}};
  for (const auto& [name, text] : models) expect_same_bits(name, text);
}

// Scores of each step of each row, [41, rows]: for a row alone, they are the numbers of one row.
std::string steps_model(const std::string& type, const std::string& result) {
  return "module {\n  func.func @main(%x: tensor<?x41x8xf32>) -> " + type + R"( {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x41x8xf32>) -> tensor<i32>
    %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %c41 = stablehlo.constant dense<41> : tensor<1xi32>
    %sizes = stablehlo.concatenate %c41, %rows, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %w = stablehlo.constant dense<)" +
         some_numbers(8 * 16) + R"(> : tensor<8x16xf32>
    %v = stablehlo.constant dense<)" +
         some_numbers(16) + R"(> : tensor<16x1xf32>
    %t = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<?x41x8xf32>) -> tensor<41x?x8xf32>
    %d = stablehlo.dot_general %t, %w, contracting_dims = [2] x [0] : (tensor<41x?x8xf32>, tensor<8x16xf32>) -> tensor<41x?x16xf32>
    %e = stablehlo.tanh %d : tensor<41x?x16xf32>
    %f = stablehlo.dot_general %e, %v, contracting_dims = [2] x [0] : (tensor<41x?x16xf32>, tensor<16x1xf32>) -> tensor<41x?x1xf32>
    %y = stablehlo.dynamic_reshape %f, %sizes : (tensor<41x?x1xf32>, tensor<2xi32>) -> tensor<41x?xf32>
)" + result +
         "    return %z : " + type + "\n  }\n}\n";
}

TEST_F(BitsTest, SumsOverStepsHaveOneOrder) {
  expect_same_bits("sum", steps_model("tensor<?xf32>", R"(
    %z = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<41x?xf32>, tensor<f32>) -> tensor<?xf32>
)"));
  expect_same_bits("softmax", steps_model("tensor<?x41xf32>", R"(
    %peak = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<41x?xf32>, tensor<f32>) -> tensor<?xf32>
    %peaks = stablehlo.dynamic_broadcast_in_dim %peak, %sizes, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<41x?xf32>
    %less = stablehlo.subtract %y, %peaks : tensor<41x?xf32>
    %exp = stablehlo.exponential %less : tensor<41x?xf32>
    %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<41x?xf32>, tensor<f32>) -> tensor<?xf32>
    %sums = stablehlo.dynamic_broadcast_in_dim %sum, %sizes, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<41x?xf32>
    %weights = stablehlo.divide %exp, %sums : tensor<41x?xf32>
    %z = stablehlo.transpose %weights, dims = [1, 0] : (tensor<41x?xf32>) -> tensor<?x41xf32>
)"));
}

// Scores of three heads, [heads, steps, rows], of which the products with weights make rows last.
TEST_F(BitsTest, SumsOverStepsOfHeadsHaveOneOrder) {
  expect_same_bits("heads", R"(module {
  func.func @main(%x: tensor<?x41x8xf32>) -> tensor<?x3xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.constant dense<)" +
                                some_numbers(8 * 16) + R"(> : tensor<8x16xf32>
    %v = stablehlo.constant dense<)" +
                                some_numbers(3 * 16) + R"(> : tensor<3x16xf32>
    %d = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<?x41x8xf32>, tensor<8x16xf32>) -> tensor<?x41x16xf32>
    %e = stablehlo.tanh %d : tensor<?x41x16xf32>
    %t = stablehlo.transpose %e, dims = [1, 0, 2] : (tensor<?x41x16xf32>) -> tensor<41x?x16xf32>
    %y = stablehlo.dot_general %v, %t, contracting_dims = [1] x [2] : (tensor<3x16xf32>, tensor<41x?x16xf32>) -> tensor<3x41x?xf32>
    %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x41x?xf32>, tensor<f32>) -> tensor<3x?xf32>
    %z = stablehlo.transpose %s, dims = [1, 0] : (tensor<3x?xf32>) -> tensor<?x3xf32>
    return %z : tensor<?x3xf32>
  }
})");
}

// Products of 26 points and their neighbours, taken from the points of all rows. squares: of the
// input, [rows, 21, 26]; there: the neighbours' at %index, [rows, 21, 26, 4].
std::string neighbours_model(const std::string& input, const std::string& squares,
                             const std::string& there) {
  return "module {\n  func.func @main(%x: " + input +
         R"(, %i: tensor<?x26x4xi32>) -> tensor<?x1664xf32> {
    %n = stablehlo.get_dimension_size %i, dim = 0 : (tensor<?x26x4xi32>) -> tensor<i32>
    %c26 = stablehlo.constant dense<26> : tensor<i32>
    %c104 = stablehlo.constant dense<104> : tensor<i32>
    %all = stablehlo.multiply %n, %c26 : tensor<i32>
    %pairs = stablehlo.multiply %n, %c104 : tensor<i32>
    %rows1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %all1 = stablehlo.reshape %all : (tensor<i32>) -> tensor<1xi32>
    %pairs1 = stablehlo.reshape %pairs : (tensor<i32>) -> tensor<1xi32>
    %s4 = stablehlo.constant dense<4> : tensor<1xi32>
    %s21 = stablehlo.constant dense<21> : tensor<1xi32>
    %s26 = stablehlo.constant dense<26> : tensor<1xi32>
    %s1664 = stablehlo.constant dense<1664> : tensor<1xi32>
    %of_channels = stablehlo.concatenate %s21, %all1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %channels_first = stablehlo.concatenate %s21, %rows1, %s26, %s4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %points = stablehlo.concatenate %all1, %s21, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %places = stablehlo.concatenate %rows1, %s26, %s4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %repeated = stablehlo.concatenate %rows1, %s26, %s4, %s21, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %channels = stablehlo.concatenate %rows1, %s21, %s26, %s4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %result = stablehlo.concatenate %rows1, %s1664, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %w = stablehlo.constant dense<)" +
         some_numbers(42 * 16) +
         R"(> : tensor<42x16xf32>
)" + squares +
         R"(    %first = stablehlo.constant dense<0> : tensor<i32>
    %last = stablehlo.constant dense<25> : tensor<i32>
    %place = stablehlo.clamp %first, %i, %last : (tensor<i32>, tensor<?x26x4xi32>, tensor<i32>) -> tensor<?x26x4xi32>
    %row = stablehlo.dynamic_iota %places, dim = 0 : (tensor<3xi32>) -> tensor<?x26x4xi32>
    %step = stablehlo.dynamic_broadcast_in_dim %c26, %places, dims = [] : (tensor<i32>, tensor<3xi32>) -> tensor<?x26x4xi32>
    %start = stablehlo.multiply %row, %step : tensor<?x26x4xi32>
    %from = stablehlo.add %place, %start : tensor<?x26x4xi32>
    %index = stablehlo.dynamic_reshape %from, %pairs1 : (tensor<?x26x4xi32>, tensor<1xi32>) -> tensor<?xi32>
)" + there +
         R"(    %own = stablehlo.dynamic_broadcast_in_dim %squares, %channels, dims = [0, 1, 2] : (tensor<?x21x26xf32>, tensor<4xi32>) -> tensor<?x21x26x4xf32>
    %difference = stablehlo.subtract %there, %own : tensor<?x21x26x4xf32>
    %both = stablehlo.concatenate %own, %difference, dim = 1 : (tensor<?x21x26x4xf32>, tensor<?x21x26x4xf32>) -> tensor<?x42x26x4xf32>
    %last4 = stablehlo.transpose %both, dims = [0, 2, 3, 1] : (tensor<?x42x26x4xf32>) -> tensor<?x26x4x42xf32>
    %d = stablehlo.dot_general %last4, %w, contracting_dims = [3] x [0] : (tensor<?x26x4x42xf32>, tensor<42x16xf32>) -> tensor<?x26x4x16xf32>
    %e = stablehlo.abs %d : tensor<?x26x4x16xf32>
    %y = stablehlo.dynamic_reshape %e, %result : (tensor<?x26x4x16xf32>, tensor<2xi32>) -> tensor<?x1664xf32>
    return %y : tensor<?x1664xf32>
  }
})";
}

// For a row alone, the transpose that puts points first could move after what takes them.
TEST_F(BitsTest, ProductsOfNeighboursHaveOneOrder) {
  expect_same_bits("neighbours", neighbours_model("tensor<?x21x26xf32>", R"(
    %squares = stablehlo.multiply %x, %x : tensor<?x21x26xf32>
    %t = stablehlo.transpose %squares, dims = [0, 2, 1] : (tensor<?x21x26xf32>) -> tensor<?x26x21xf32>
    %f = stablehlo.dynamic_reshape %t, %points : (tensor<?x26x21xf32>, tensor<2xi32>) -> tensor<?x21xf32>
)",
                                                  R"(
    %other = "stablehlo.gather"(%f, %index) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 21>} : (tensor<?x21xf32>, tensor<?xi32>) -> tensor<?x21xf32>
    %others = stablehlo.dynamic_reshape %other, %repeated : (tensor<?x21xf32>, tensor<4xi32>) -> tensor<?x26x4x21xf32>
    %there = stablehlo.transpose %others, dims = [0, 3, 1, 2] : (tensor<?x26x4x21xf32>) -> tensor<?x21x26x4xf32>
)"));
}

// A row alone has its points after its channels, as all rows cannot have them.
TEST_F(BitsTest, ProductsOfNeighboursByChannelsHaveOneOrder) {
  expect_same_bits("by_channels", neighbours_model("tensor<?x21x26xf32>", R"(
    %squares = stablehlo.multiply %x, %x : tensor<?x21x26xf32>
    %t = stablehlo.transpose %squares, dims = [1, 0, 2] : (tensor<?x21x26xf32>) -> tensor<21x?x26xf32>
    %f = stablehlo.dynamic_reshape %t, %of_channels : (tensor<21x?x26xf32>, tensor<2xi32>) -> tensor<21x?xf32>
)",
                                                   R"(
    %other = "stablehlo.gather"(%f, %index) {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 21, 1>} : (tensor<21x?xf32>, tensor<?xi32>) -> tensor<21x?xf32>
    %others = stablehlo.dynamic_reshape %other, %channels_first : (tensor<21x?xf32>, tensor<4xi32>) -> tensor<21x?x26x4xf32>
    %there = stablehlo.transpose %others, dims = [1, 0, 2, 3] : (tensor<21x?x26x4xf32>) -> tensor<?x21x26x4xf32>
)"));
}

// The compiler runs a model whose rows it cannot prove to be alone. LLVM takes its options from the
// first code of a process, which is then that of the trial.
TEST_F(BitsTest, ATrialRunChangesNoCode) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "turned.mlir", R"(module {
  func.func @main(%x: tensor<?x435xf32>) -> tensor<?x435xf32> {
    %turned = stablehlo.reverse %x, dims = [0] : tensor<?x435xf32>
    %size = stablehlo.abs %turned : tensor<?x435xf32>
    %root = stablehlo.sqrt %size : tensor<?x435xf32>
    %y = stablehlo.reverse %root, dims = [0] : tensor<?x435xf32>
    return %y : tensor<?x435xf32>
  }
})"));
  std::map<std::string, std::string> code;
  for (const std::string rows : {"alone", "coupled"}) {
    const ProcessResult made = tool({"compile", "turned.mlir", "-o", rows, "--batch-sizes", "1",
                                     "--cpu-levels", "x86-64-v4", "--rows", rows, "--no-cache"});
    ASSERT_TRUE(made.ok()) << made.standard_error;
    EXPECT_EQ(made.standard_error.find("in trial runs") != std::string::npos, rows == "alone");
    const auto object = files_.read(root_ / rows / "lib/turned_bs1.o");
    ASSERT_TRUE(object) << object.error().text();
    code[rows] = *object;
  }
  EXPECT_EQ(code["alone"], code["coupled"]);
}

// Rows that depend on each other: `x x^T x`, times the cube of their number.
TEST_F(BitsTest, CoupledRowsAreComputedByTheirOwnNumber) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "coupled.mlir", R"(module {
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %rows = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %square = stablehlo.multiply %rows, %rows : tensor<f32>
    %cube = stablehlo.multiply %square, %rows : tensor<f32>
    %size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %width = stablehlo.constant dense<4> : tensor<1xi32>
    %shape = stablehlo.concatenate %size, %width, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %scale = stablehlo.dynamic_broadcast_in_dim %cube, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %pairs = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
    %sum = stablehlo.dot_general %pairs, %x, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %y = stablehlo.multiply %sum, %scale : tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
})"));
  done({"compile", "coupled.mlir", "-o", "net", "--batch-sizes", "1,2,5", "--rows", "coupled",
        "-q"});
  for (const int rows : {1, 2, 5}) {
    done({"run", "net", "-i", "ones", "--rows", std::to_string(rows), "-o", "y.csv", "-q"});
    const auto text = files_.read(root_ / "y.csv");
    ASSERT_TRUE(text);
    const std::string number = std::to_string(4 * rows * rows * rows * rows);
    EXPECT_THAT(*text, HasSubstr(number + "," + number + "," + number + "," + number)) << rows;
  }
}

// A step of each row, as PyTorch's exporter writes it: an index into all steps of all rows. With a
// `start` of 6 steps a row, it is within its row; without it, it may be anywhere.
std::string chosen_step_model(int start) {
  return R"(module {
  func.func @main(%x: tensor<?x6xf32>, %i: tensor<?xi32>) -> tensor<?xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %six = stablehlo.constant dense<6> : tensor<1xi32>
    %all = stablehlo.multiply %rows, %six : tensor<1xi32>
    %steps = stablehlo.dynamic_reshape %x, %all : (tensor<?x6xf32>, tensor<1xi32>) -> tensor<?xf32>
    %row = stablehlo.dynamic_iota %rows, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %c = stablehlo.constant dense<)" +
         std::to_string(start) + R"(> : tensor<i32>
    %cs = stablehlo.dynamic_broadcast_in_dim %c, %rows, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %start = stablehlo.multiply %row, %cs : tensor<?xi32>
    %index = stablehlo.add %start, %i : tensor<?xi32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %shape = stablehlo.concatenate %rows, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %indices = stablehlo.dynamic_reshape %index, %shape : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %y = "stablehlo.gather"(%steps, %indices) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false} : (tensor<?xf32>, tensor<?x1xi32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
})";
}

TEST_F(BitsTest, AStepOfEachRowMayBeChosenByItsIndex) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "step.mlir", chosen_step_model(6)));
  const ProcessResult made = tool({"compile", "step.mlir", "-o", "net", "--batch-sizes", "1,4"});
  EXPECT_TRUE(made.ok()) << made.standard_error;
  EXPECT_THAT(made.standard_error, HasSubstr("unless each index is within its row"));
  ASSERT_TRUE(files_.replace_atomically(root_ / "any.mlir", chosen_step_model(0)));
  const ProcessResult refused = tool({"compile", "any.mlir", "-o", "any", "--batch-sizes", "1,4"});
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.standard_error, HasSubstr("mixes the rows of a batch"));
}

// Without the options of PlainLoops, x86-64-v3 and v4 split the sum of a row in other ways, a row
// alone splits the sum over time, and only these two levels fuse products with sums.
TEST_F(BitsTest, LoopsOfXlaHaveTheSameBitsAtEachLevel) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "plain.mlir", R"(module {
  func.func @main(%x: tensor<?x16x4xf32>, %z: tensor<?x17xf64>) -> (tensor<?x16x4xf32>, tensor<?x4xf32>, tensor<?xf64>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zero64 = stablehlo.constant dense<0.0> : tensor<f64>
    %square = stablehlo.multiply %x, %x : tensor<?x16x4xf32>
    %both = stablehlo.add %square, %x : tensor<?x16x4xf32>
    %wave = stablehlo.tanh %both : tensor<?x16x4xf32>
    %time = stablehlo.transpose %both, dims = [1, 2, 0] : (tensor<?x16x4xf32>) -> tensor<16x4x?xf32>
    %sum = stablehlo.reduce(%time init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
    %sums = stablehlo.transpose %sum, dims = [1, 0] : (tensor<4x?xf32>) -> tensor<?x4xf32>
    %power = stablehlo.multiply %z, %z : tensor<?x17xf64>
    %more = stablehlo.add %power, %z : tensor<?x17xf64>
    %row = stablehlo.reduce(%more init: %zero64) applies stablehlo.add across dimensions = [1] : (tensor<?x17xf64>, tensor<f64>) -> tensor<?xf64>
    return %wave, %sums, %row : tensor<?x16x4xf32>, tensor<?x4xf32>, tensor<?xf64>
  }
})"));
  done({"compile", "plain.mlir", "-o", "net", "--batch-sizes", "1,3", "-q"});
  const json found = json::parse(done({"validate", "net", "--bits", "--json", "-q"}));
  EXPECT_EQ(found["passed"], true) << found["differences"];
  ASSERT_EQ(found["outputs"].size(), 1U) << found["outputs"];  // one hash
}

}  // namespace
}  // namespace tfaot::toolkit::testing
