// SPDX-License-Identifier: Apache-2.0
// Files with StableHLO become HLO with weights as parameters; files that are broken give errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

#include "compiler/hlo/hlo.h"
#include "front/stablehlo/stablehlo_source.h"
#include "tests/support/temporary_folder.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string model_bytes(const std::string& name) {
  std::ifstream file(TFAOT_STABLEHLO_MODELS "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

class StableHloFileTest : public ::testing::Test {
 protected:
  // Of a file with these bytes.
  Result<std::unique_ptr<SourceModel>> load(const std::string& bytes, JobModel job = {}) const {
    job.format = ModelFormat::kStableHlo;
    job.source = (folder_.path() / "model").string();
    std::ofstream(job.source, std::ios::binary) << bytes;
    TFAOT_ASSIGN(auto source, load_stablehlo_source(job));
    TFAOT_TRY(source->prepare());
    return source;
  }
  std::string error_of(const std::string& bytes, const JobModel& job = {}) const {
    const auto source = load(bytes, job);
    if (!source) return source.error().text();
    LoweringOptions options;
    options.fixed_shapes = job.fixed_shapes;
    const auto lowering = (*source)->lowering(options);
    if (!lowering) return lowering.error().text();
    const auto lowered = (*lowering)->lower(2);
    return lowered ? "" : lowered.error().text();
  }
  // The first output for this input.
  static std::vector<float> run(const SourceModel& source, const LoweringOptions& options,
                                const xla::Literal& input, std::int64_t rows) {
    const auto lowering = source.lowering(options).value();
    const auto lowered = lowering->lower(rows).value();
    const auto module = make_module(lowered.computation.proto()).value();
    std::vector<xla::Literal> arguments;
    arguments.push_back(input.Clone());
    for (const RawWeight& weight : lowering->weights()) {
      arguments.push_back(weight.read().value()->Clone());
    }
    xla::HloEvaluator evaluator;
    const auto outputs = evaluator.Evaluate(*module, arguments).value().DecomposeTuple();
    const auto data = outputs.front().data<float>();
    return {data.begin(), data.end()};
  }

  TemporaryFolder folder_;
};

// y = x W for any number of rows, W = 0, 1, ... 15; and a loop that holds a constant.
constexpr const char* kProduct = R"(module {
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %w = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]> : tensor<4x4xf32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
})";
constexpr const char* kLoop = R"(module {
  func.func @main(%x: tensor<2x16xf32>) -> tensor<2x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<2x16xf32>
     cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %b = stablehlo.constant dense<0.5> : tensor<2x16xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.add %s, %b : tensor<2x16xf32>
      stablehlo.return %j, %t : tensor<i32>, tensor<2x16xf32>
    }
    return %r#1 : tensor<2x16xf32>
  }
})";

TEST_F(StableHloFileTest, ConstantsAreWeights) {
  const auto source = load(kProduct);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ((*source)->inputs()[0].name, "x");
  EXPECT_EQ((*source)->outputs()[0].name, "output_0");
  EXPECT_THAT((*source)->inputs()[0].shape, ElementsAre(-1, 4));
  const auto variables = (*source)->variables();
  ASSERT_EQ(variables.size(), 1U);
  EXPECT_EQ(variables[0].name, "constant_0");
  EXPECT_THAT(variables[0].shape, ElementsAre(4, 4));
  const auto input = xla::LiteralUtil::CreateR2<float>({{1, 0, 0, 0}, {0, 0, 2, 1}});
  for (const bool embed : {false, true}) {
    LoweringOptions options;
    options.embed_weights = embed;
    EXPECT_EQ((*source)->lowering(options).value()->weights().size(), embed ? 0U : 1U);
    EXPECT_THAT(run(**source, options, input, 2), ElementsAre(0, 1, 2, 3, 28, 31, 34, 37));
  }
  EXPECT_FALSE((*source)->lowering({}).value()->has_fixed_batch());
}

TEST_F(StableHloFileTest, ConstantsInsideOfLoopsAreWeights) {
  const auto source = load(kLoop);
  ASSERT_TRUE(source) << source.error().text();
  const auto lowering = (*source)->lowering({}).value();
  EXPECT_TRUE(lowering->has_fixed_batch());
  const auto lowered = lowering->lower(2).value();
  const auto module = make_module(lowered.computation.proto()).value();
  EXPECT_GT(module->entry_computation()->parameter_instruction(1)->user_count(), 0);
  const auto made = run(**source, {}, xla::LiteralUtil::CreateFull<float>({2, 16}, 1), 2);
  EXPECT_THAT(made, ::testing::Each(2.5F));
}

TEST_F(StableHloFileTest, WithoutABatch) {
  JobModel job;
  job.fixed_shapes = true;
  const auto source = load(kLoop, job);
  ASSERT_TRUE(source) << source.error().text();
  LoweringOptions options;
  options.fixed_shapes = true;
  const auto lowered = (*source)->lowering(options).value()->lower(1);
  ASSERT_TRUE(lowered) << lowered.error().text();
  EXPECT_THAT(lowered->inputs[0].row_shape, ElementsAre(2, 16));
  EXPECT_THAT(lowered->outputs[0].row_shape, ElementsAre(2, 16));
}

TEST_F(StableHloFileTest, TheInterpreterTakesTensorsWithoutABatch) {
  JobModel job;
  job.fixed_shapes = true;
  ASSERT_TRUE(load(kLoop, job));
  job.format = ModelFormat::kStableHlo;
  job.source = (folder_.path() / "model").string();
  const auto program = load_interpreted_program(job, 1);
  ASSERT_TRUE(program) << program.error().text();
  tensorflow::Tensor input(tensorflow::DT_FLOAT, tensorflow::TensorShape({2, 16}));
  std::fill_n(static_cast<float*>(input.data()), 32, 1.0F);
  const auto made = (*program)->run({input}, std::chrono::seconds(0));
  ASSERT_TRUE(made) << made.error().text();
  ASSERT_EQ(made->front().TotalBytes(), 32 * sizeof(float));
  EXPECT_EQ(static_cast<const float*>(made->front().data())[31], 2.5F);
}

TEST_F(StableHloFileTest, AFixedBatchAllowsNoOther) {
  const auto source = load(kLoop);
  const auto lowered = (*source)->lowering({}).value()->lower(3);
  ASSERT_FALSE(lowered);
  EXPECT_THAT(lowered.error().text(),
              AllOf(HasSubstr("only batch size 2 can: compilation.batch_sizes: [2], "
                              "or '--batch-sizes 2'"),
                    HasSubstr("if that dimension is not the batch: compilation.batch: none")));
}

TEST_F(StableHloFileTest, ReadsWhatJaxExports) {
  const auto source = load(model_bytes("dense/model.jax"));
  ASSERT_TRUE(source) << source.error().text();
  ASSERT_EQ((*source)->inputs().size(), 2U);
  EXPECT_EQ((*source)->inputs()[0].name, "electron");
  EXPECT_EQ((*source)->inputs()[1].name, "muon");
  EXPECT_THAT((*source)->inputs()[1].dimensions, ElementsAre("b", ""));
  EXPECT_EQ((*source)->outputs()[0].name, "score");
  const auto variables = (*source)->variables();
  ASSERT_EQ(variables.size(), 3U);  // two matrices, and a bias that is zero
  EXPECT_EQ((*source)->operation_counts()["stablehlo.dot_general"], 2);
}

// In text, places in Python code are the names; newer versions write them in another way.
TEST_F(StableHloFileTest, ReadsTextOfNewerVersions) {
  const std::string bytes = model_bytes("convolution/model.mlir");
  ASSERT_THAT(bytes, HasSubstr(" to :"));
  const auto source = load(bytes);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ((*source)->inputs()[0].name, "image");
  EXPECT_EQ((*source)->outputs()[0].name, "features");
}

TEST_F(StableHloFileTest, OpenSizesNeedAValue) {
  const std::string bytes = model_bytes("attention/model.stablehlo");
  EXPECT_THAT(error_of(bytes), AllOf(HasSubstr("the dimension 'n_tracks' of "),
                                     HasSubstr("--dimension n_tracks=10")));
  JobModel job;
  job.dimensions = {{"n_tracks", 6}};
  EXPECT_EQ(error_of(bytes, job), "");
}

TEST_F(StableHloFileTest, CallsByNameAreRefused) {
  const std::string call = R"(module {
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %y = stablehlo.custom_call @TARGET(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
})";
  const std::string fixed = std::regex_replace(call, std::regex("\\?x4"), "2x4");
  const auto with = [&](const std::string& target) {
    return std::regex_replace(fixed, std::regex("TARGET"), target);
  };
  EXPECT_THAT(error_of(with("system")), HasSubstr("calls the function 'system' by its name"));
  EXPECT_THAT(error_of(with("tfaot.constant_7")), HasSubstr("'tfaot.constant_7'"));
  EXPECT_THAT(error_of(with("tf.call_tf_function")), HasSubstr("'tf.call_tf_function'"));
}

TEST_F(StableHloFileTest, WhatIsNoStableHlo) {
  const std::string nothing = "is not StableHLO";
  EXPECT_THAT(error_of(""), HasSubstr(nothing));
  EXPECT_THAT(error_of(std::string("\x00\x01\x02\x03", 4)), HasSubstr(nothing));
  EXPECT_THAT(error_of("no module"), AllOf(HasSubstr("model:1"), HasSubstr("XLA cannot read it")));
  EXPECT_THAT(error_of("module {\n}\n"), HasSubstr("has no function 'main'"));
  EXPECT_THAT(error_of("module {\n\n  func.func @main() { frobnicate }\n}\n"),
              AllOf(HasSubstr("model:3"), HasSubstr("XLA: ")));
  EXPECT_THAT(error_of("module { func.func @main() -> tensor<2xf32> {\n%0 = stablehlo.constant "
                       "dense<1.0> : tensor<2xf32>\nreturn %0 : tensor<2xf32> } }"),
              HasSubstr("has no inputs"));
}

TEST_F(StableHloFileTest, FunctionsOfOtherNamesAreListed) {
  const auto function = [](const std::string& name) {
    return "func.func " + name + "(%x: tensor<?xf32>) -> tensor<?xf32> {\n" +
           "return %x : tensor<?xf32> }\n";
  };
  EXPECT_THAT(
      error_of("module {\n" + function("public @forward") + function("private @helper") + "}"),
      HasSubstr("has no function 'main'; it has forward, helper\n"));
}

TEST_F(StableHloFileTest, InputsOfOddTypesAreNamed) {
  for (const std::string type :
       {"tensor<*xf32>", "tensor<?x3xcomplex<f32>>", "tuple<tensor<f32>>"}) {
    EXPECT_THAT(error_of("module { func.func @main(%x: " + type + ") -> " + type +
                         " {\nreturn %x : " + type + " } }"),
                HasSubstr("input 'x' is of type " + type + "\n  an input is a tensor"))
        << type;
  }
}

TEST_F(StableHloFileTest, NewerVersionsAreNamed) {
  std::string bytes = model_bytes("scan/model.mlirbc");
  const std::size_t version = bytes.find("StableHLO_v1.");
  ASSERT_NE(version, std::string::npos);
  bytes.replace(version, 14, "StableHLO_v1.9");
  EXPECT_THAT(error_of(bytes.substr(0, bytes.size() / 2)),
              AllOf(HasSubstr("it is StableHLO 1.9"), HasSubstr("reads versions up to 1.7.3"),
                    HasSubstr("tfaot_jax.export()")));
}

TEST_F(StableHloFileTest, ExportsForOtherMachinesAreRefused) {
  std::string bytes = model_bytes("dense/model.jax");
  const std::size_t platform = bytes.find(std::string("\3\0\0\0cpu", 7));
  ASSERT_NE(platform, std::string::npos);
  bytes.replace(platform + 4, 3, "tpu");
  EXPECT_THAT(error_of(bytes), HasSubstr("is exported for tpu, not for CPUs"));
}

// Of each row, the number at the place that its first one says; and written back to that place.
TEST_F(StableHloFileTest, GathersAndScattersWithBatches) {
  const auto source = load(R"(module {
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %f = stablehlo.slice %x [0:2, 0:1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %i = stablehlo.convert %f : (tensor<2x1xf32>) -> tensor<2x1xi32>
    %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi32>) -> tensor<2xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %o = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %s = "stablehlo.scatter"(%o, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
})");
  ASSERT_TRUE(source) << source.error().text();
  const auto input = xla::LiteralUtil::CreateR2<float>({{2, 10, 20, 30}, {1, 11, 21, 31}});
  EXPECT_THAT(run(**source, {}, input, 2), ElementsAre(0, 0, 20, 0, 0, 11, 0, 0));
}

TEST_F(StableHloFileTest, ZerosBeforeNegativeNumbers) {
  const auto source = load(R"(module {
  func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %i = stablehlo.convert %x : (tensor<2x2xf32>) -> tensor<2x2xi32>
    %n = stablehlo.count_leading_zeros %i : tensor<2x2xi32>
    %y = stablehlo.convert %n : (tensor<2x2xi32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  }
})");
  ASSERT_TRUE(source) << source.error().text();
  const auto input = xla::LiteralUtil::CreateR2<float>({{-1, 0}, {1, 256}});
  EXPECT_THAT(run(**source, {}, input, 2), ElementsAre(0, 32, 31, 23));
}

// A module whose 'main' returns its input, around these functions and operations.
std::string module_with(const std::string& functions, const std::string& operations = "") {
  return "module {\n" + functions + "func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n" +
         operations + "return %x : tensor<2x4xf32>\n}\n}\n";
}
// A function `name` that calls another one twice.
std::string function_with_calls(const std::string& name, const std::string& called) {
  const std::string type = "(tensor<2x4xf32>) -> tensor<2x4xf32>\n";
  return "func.func private @" + name + "(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n" +
         "%a = func.call @" + called + "(%x) : " + type + "%b = func.call @" + called +
         "(%a) : " + type + "return %b : tensor<2x4xf32>\n}\n";
}

TEST_F(StableHloFileTest, WhatWouldEndXlaIsRefused) {
  const std::string call = "%y = func.call @f0(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>\n";
  EXPECT_THAT(error_of(module_with(function_with_calls("f0", "f0"), call)),
              HasSubstr("the function 'f0' calls itself"));
  EXPECT_THAT(error_of(module_with(
                  function_with_calls("f0", "f1") + function_with_calls("f1", "f0"), call)),
              HasSubstr("calls itself"));
  std::string doubling =
      "func.func private @f20(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n"
      "return %x : tensor<2x4xf32>\n}\n";
  for (int i = 0; i < 20; ++i) {
    doubling += function_with_calls("f" + std::to_string(i), "f" + std::to_string(i + 1));
  }
  EXPECT_THAT(error_of(module_with(doubling, call)), HasSubstr("has more than 100000 operations"));
  EXPECT_THAT(error_of(module_with("", std::string(300, '('))),
              AllOf(HasSubstr("model:3"), HasSubstr("more than 200 brackets in each other")));
  EXPECT_THAT(error_of(module_with("",
                                   "%c = stablehlo.constant dense<1.0> : "
                                   "tensor<4294967296x4294967296x4294967296xf32>\n")),
              AllOf(HasSubstr("model:3"), HasSubstr("a tensor of more than")));
  EXPECT_THAT(error_of(module_with("",
                                   "%c = stablehlo.constant dense<1.0> : "
                                   "tensor<100000x100000xf32>\n")),
              HasSubstr("constants that repeat one number have more than 33554432 elements"));
}

// LLVM throws for sizes that it reads there.
TEST_F(StableHloFileTest, BrokenArtifactsAreRefused) {
  const std::string bytes = model_bytes("scan/model.mlirbc");
  const std::string broken = bytes.substr(0, 1910) + std::string(8, '\0') + bytes.substr(1918);
  EXPECT_THAT(error_of(broken), HasSubstr("XLA cannot read it as StableHLO"));
}

// Reading takes time that grows with the text, not with its square.
TEST_F(StableHloFileTest, NamesThatAreNoFunctions) {
  std::string comment = "// ";
  for (int i = 0; i < 200'000; ++i) comment += "@main(";
  EXPECT_EQ(error_of(module_with(comment + "\n")), "");
}

// A FlatBuffer with `count` platforms that are all one text.
std::string shared_text(std::uint32_t count, std::uint32_t size) {
  constexpr std::uint32_t kTable = 56;
  std::string bytes(kTable + 24, '\0');
  const auto put = [&](std::size_t at, auto number) {
    std::memcpy(&bytes[at], &number, sizeof number);
  };
  put(0, kTable);
  put(4, std::uint16_t{50});  // of the list of fields, which says where each is in the table
  put(4 + 4 + 2 * 3, std::uint16_t{12});  // shapes of inputs
  put(4 + 4 + 2 * 9, std::uint16_t{8});   // platforms
  put(4 + 4 + 2 * 13, std::uint16_t{4});  // the module
  put(kTable, std::int32_t{kTable - 4});  // from the list to the table
  put(kTable + 4, std::uint32_t{16});     // from here to the module
  put(kTable + 8, std::uint32_t{20});     // from here to the platforms
  put(kTable + 12, std::uint32_t{4});     // from here to no shapes
  put(kTable + 20, std::uint32_t{4});     // bytes of the module
  bytes += "ML\xEFR";
  const std::size_t list = bytes.size();
  bytes.resize(list + 4 + 4 * std::size_t{count});
  put(list, count);
  for (std::uint32_t i = 0; i < count; ++i) put(list + 4 + 4 * std::size_t{i}, 4 * (count - i));
  bytes.resize(bytes.size() + 4);
  put(bytes.size() - 4, size);
  return bytes + std::string(size, 'x');
}

TEST(JaxExport, TextsThatAreSharedAreLimited) {
  ASSERT_TRUE(read_jax_export(shared_text(2, 3)));
  EXPECT_EQ(read_jax_export(shared_text(2, 3))->platforms[1], "xxx");
  EXPECT_FALSE(read_jax_export(shared_text(20'000, 80'000)));
}

// The FlatBuffer, whose module is not parsed here.
TEST(JaxExport, BrokenFilesAreReadWithoutHarm) {
  const std::string bytes = model_bytes("dense/model.jax");
  ASSERT_TRUE(read_jax_export(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string start = bytes.substr(0, size);
    static_cast<void>(read_jax_export(start));
  }
  std::uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string broken = bytes;
    for (int change = 0; change < 3; ++change) {
      random = random * 1664525 + 1013904223;
      broken[(random >> 8) % broken.size()] = static_cast<char>(random >> 3);
    }
    const auto read = read_jax_export(broken);
    EXPECT_LE(read ? read->module.size() : 0, broken.size());
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
