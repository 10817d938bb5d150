// SPDX-License-Identifier: Apache-2.0
// `tfaot inspect` of real models: what it shows is what the objects hold.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kLastStage = "cpu_after_optimizations";

class InspectTest : public ToolTest {
 protected:
  json inspected(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"inspect", "-q", "--json"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    json read = json::parse(done(all), nullptr, false);
    EXPECT_FALSE(read.is_discarded());
    return read;
  }
};

std::vector<std::string> stages_of(const json& code) {
  std::vector<std::string> names;
  for (const json& stage : code["stages"]) names.push_back(stage["stage"]);
  return names;
}

const json& stage_of(const json& code, const std::string& name) {
  for (const json& stage : code["stages"]) {
    if (stage["stage"] == name) return stage;
  }
  ADD_FAILURE() << "no stage " << name;
  return code["stages"].front();
}

// Of all computations.
std::vector<json> nodes_of(const json& stage, const std::string& kind) {
  std::vector<json> nodes;
  for (const json& computation : stage["computations"]) {
    for (const json& node : computation["nodes"]) {
      if (node["kind"] == kind) nodes.push_back(node);
    }
  }
  return nodes;
}

std::vector<std::string> own_kernels(const json& code) {
  std::vector<std::string> symbols;
  for (const std::string symbol : code["kernels"]) {
    if (symbol.starts_with("tfaot_")) symbols.push_back(symbol);
  }
  return symbols;
}

TEST_F(InspectTest, TheKernelsAreThoseThatTheObjectCalls) {
  for (const std::string name : {"convolution", "convolutions", "products", "pooling", "resizing",
                                 "row_lookups", "keras_export", "attention", "row_loops"}) {
    const json code = inspected({config(name)});
    std::set<std::string> shown;
    for (const json& node : nodes_of(stage_of(code, kLastStage), "kernel")) {
      shown.insert(node["callee"].get<std::string>());
    }
    EXPECT_THAT(own_kernels(code), ::testing::ElementsAreArray(shown)) << name;
    EXPECT_THAT(shown, Not(IsEmpty())) << name;
  }
}

// However XLA simplifies what TensorFlow lowers it to: for one image it leaves dimensions out.
TEST_F(InspectTest, KernelsResizeImages) {
  for (const std::string batch_size : {"1", "3"}) {
    const json code = inspected({config("resizing"), "--batch-sizes", batch_size});
    int resized = 0;
    int transposed = 0;
    for (const json& node : nodes_of(stage_of(code, kLastStage), "kernel")) {
      const std::string kernel = node["callee"];
      resized += kernel.starts_with("tfaot_resize_") ? 1 : 0;
      transposed += kernel.starts_with("tfaot_transposed_convolution_") ? 1 : 0;
      EXPECT_GT(node["flops"], 0) << kernel;
    }
    EXPECT_EQ(resized, 12);
    EXPECT_EQ(transposed, 4);
    for (const json& node : nodes_of(stage_of(code, kLastStage), "loop")) {
      EXPECT_NE(node["opcode"], "gather") << node;
    }
  }
}

// From a SavedModel, a frozen graph and ONNX, in several sizes of a batch, which share the weights.
TEST_F(InspectTest, DenseLayersAreOneCall) {
  for (const std::string& net : {config("tf1_variables"), config("frozen_graph"),
                                 std::string(TFAOT_PYTORCH_MODELS "/dense/aot_config.yaml")}) {
    std::set<std::set<std::string>> weights;
    for (const std::string batch_size : {"1", "3", "20"}) {
      const json code = inspected({net, "--batch-sizes", batch_size});
      EXPECT_THAT(own_kernels(code), Contains(StartsWith("tfaot_dense_chain_"))) << net;
      std::set<std::string> packed;
      for (const json& weight : code["weights"]) {
        const std::string name = weight["name"];
        if (name.ends_with(", packed")) packed.insert(name);
      }
      EXPECT_THAT(packed, Not(IsEmpty())) << net;
      weights.insert(packed);
    }
    EXPECT_EQ(weights.size(), 1U) << net;
  }
}

// TensorFlow's top k, and its sort and argsort of the same values, which are one call.
TEST_F(InspectTest, KernelsFindTheFirstElements) {
  const json stage = stage_of(inspected({config("row_lookups")}), kLastStage);
  int found = 0;
  for (const json& node : nodes_of(stage, "kernel")) {
    const std::string kernel = node["callee"];
    found += kernel.starts_with("tfaot_top_k_") ? 1 : 0;
  }
  EXPECT_EQ(found, 2);
  for (const json& node : nodes_of(stage, "loop")) EXPECT_NE(node["opcode"], "sort") << node;
}

TEST_F(InspectTest, ItIsTheCodeThatCompileMakes) {
  for (const std::string name : {"convolution", "keras_export", "loops", "folding"}) {
    done({"compile", "-q", "-c", config(name), "-o", name});
    const json packaged = inspected({name});
    const std::string size = std::to_string(packaged["batch_size"].get<int>());
    const json code = inspected({config(name), "--batch-sizes", size});
    EXPECT_EQ(code["code_sha256"], packaged["code_sha256"]) << name;
    EXPECT_EQ(code["kernels"], packaged["kernels"]) << name;
    EXPECT_EQ(code["estimated_picoseconds"], packaged["estimated_picoseconds"]) << name;
    EXPECT_EQ(code["weights"].size(), packaged["weights"].size()) << name;
    const json& optimized = stage_of(packaged, "optimized");
    EXPECT_EQ(optimized["picoseconds"], stage_of(code, "optimized")["picoseconds"]) << name;
    EXPECT_EQ(optimized["flops"], stage_of(code, "optimized")["flops"]) << name;
    // A package counts the tables of pointers to outputs, too.
    const auto bytes = code["temporaries"]["bytes"].get<std::int64_t>();
    const auto packaged_bytes = packaged["temporaries"]["bytes"].get<std::int64_t>();
    EXPECT_LE(bytes, packaged_bytes) << name;
    EXPECT_LE(packaged_bytes, bytes + 64) << name;
  }
}

TEST_F(InspectTest, StagesOfANet) {
  const json code = inspected({config("keras_export"), "--batch-sizes", "4"});
  const auto stages = stages_of(code);
  EXPECT_EQ(stages.front(), "lowered");
  EXPECT_EQ(stages.back(), kLastStage);
  for (const char* stage : {"simplified", "kernel_calls", "folded", "optimized"}) {
    EXPECT_THAT(stages, Contains(stage));
  }
  EXPECT_THAT(nodes_of(stage_of(code, "simplified"), "kernel"), IsEmpty());
  EXPECT_THAT(nodes_of(stage_of(code, "simplified"), "product"), Not(IsEmpty()));
  EXPECT_THAT(nodes_of(stage_of(code, "kernel_calls"), "product"), IsEmpty());
  for (const json& node : nodes_of(stage_of(code, kLastStage), "kernel")) {
    EXPECT_THAT(node["origin"].get<std::string>(), HasSubstr("functional_1/"));
    EXPECT_GT(node["picoseconds"], 0);
    const auto callee = node["callee"].get<std::string>();
    const bool moves = callee.starts_with("tfaot_gather");
    const bool multiplies = !moves && !callee.starts_with("tfaot_softmax");
    EXPECT_THAT(node["detail"].get<std::string>(), HasSubstr(moves        ? " rows of 2 parts"
                                                             : multiplies ? " x "
                                                                          : " rows of 2"))
        << node;
    EXPECT_EQ(node["flops"] > 0, multiplies);
  }
}

TEST_F(InspectTest, WeightsSayWhatTheyAreMadeOf) {
  const json code = inspected({config("keras_export")});
  bool packed = false;
  for (const json& weight : code["weights"]) {
    EXPECT_THAT(weight["variables"], Not(IsEmpty())) << weight;
    if (!weight["name"].get<std::string>().ends_with(", packed")) continue;
    packed = true;
    EXPECT_THAT(weight["operations"], Not(IsEmpty())) << weight;
  }
  EXPECT_TRUE(packed);
}

TEST_F(InspectTest, TemporariesAreAliveForATime) {
  const json code = inspected({config("convolutions")});
  EXPECT_GT(code["temporaries"]["bytes"], 0);
  EXPECT_GT(code["temporaries"]["most_alive"], 0);
  EXPECT_LE(code["temporaries"]["most_alive"], code["temporaries"]["bytes"]);
  const auto moments = static_cast<std::int64_t>(code["moments"].size());
  for (const json& allocation : code["allocations"]) {
    if (allocation["use"] != "temporary") continue;
    for (const json& value : allocation["values"]) {
      EXPECT_GE(value["first"], 0) << value;
      EXPECT_LE(value["first"], value["last"]) << value;
      EXPECT_LE(value["last"], moments) << value;
      EXPECT_LE(value["offset"].get<std::int64_t>() + value["bytes"].get<std::int64_t>(),
                allocation["bytes"].get<std::int64_t>())
          << value;
    }
  }
}

TEST_F(InspectTest, AssemblyAndLlvmCallTheKernels) {
  const std::string name = config("convolution");
  const json code = inspected({name});
  for (const char* stage : {"assembly", "llvm", "llvm_unoptimized"}) {
    const std::string text = done({"inspect", "-q", name, "--stage", stage});
    for (const std::string& kernel : own_kernels(code)) EXPECT_THAT(text, HasSubstr(kernel));
  }
}

// Not where the kernel's table of results says: LLVM would not know that a loop reads what it
// writes over, and would run it number by number.
TEST_F(InspectTest, ResultsOfKernelsAreAtKnownPlaces) {
  const std::string name = config("convolution");
  EXPECT_THAT(done({"inspect", "-q", name, "--stage", "llvm"}),
              AllOf(HasSubstr("%custom-call"), Not(HasSubstr("load ptr, ptr %custom-call"))));
}

TEST_F(InspectTest, ADumpOfXlaIsOpened) {
  done({"inspect", "-q", config("keras_export"), "--batch-sizes", "4", "--dump", "kept"});
  EXPECT_THAT(stages_of(inspected({"kept"})), Contains("folded"));
  // As XLA's flag --xla_dump_to alone leaves it.
  std::vector<std::filesystem::path> ours;
  for (const auto& entry : std::filesystem::directory_iterator(root_ / "kept")) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(".pb") || file.starts_with("tfaot.")) ours.push_back(entry.path());
  }
  for (const auto& file : ours) std::filesystem::remove(file);
  const json code = inspected({"kept"});
  EXPECT_EQ(code["kind"], "dump");
  EXPECT_THAT(stages_of(code), ElementsAre("before_optimizations", kLastStage));
  EXPECT_THAT(nodes_of(stage_of(code, kLastStage), "kernel"), Not(IsEmpty()));
  EXPECT_GT(code["temporaries"]["most_alive"], 0);
  EXPECT_THAT(done({"inspect", "-q", "kept", "--stage", "llvm"}), HasSubstr("define void"));
}

TEST_F(InspectTest, AGraphThatIsTooLarge) {
  done({"inspect", "-q", config("keras_export"), "--batch-sizes", "4", "--dump", "kept"});
  for (const auto& entry : std::filesystem::directory_iterator(root_ / "kept")) {
    if (!entry.path().string().ends_with("before_optimizations.hlo.pb")) continue;
    std::filesystem::resize_file(entry.path(), std::uintmax_t{600} << 20);
  }
  const ProcessResult result = tool({"inspect", "-q", "kept"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("but a file of a dump has at most 536870912"));
}

// A loop of 5 turns of two products is one call of a kernel.
TEST_F(InspectTest, ARecurrentLayerIsOneKernel) {
  const json code = inspected({config("recurrent"), "--batch-sizes", "4"});
  const json& stage = stage_of(code, kLastStage);
  const auto kernels = nodes_of(stage, "kernel");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0]["flops"], 2 * 5 * 4 * (3 + 4) * 16);
  EXPECT_EQ(nodes_of(stage, "control").size(), 0U);
  const std::string text = done({"inspect", "-q", config("recurrent"), "--batch-sizes", "4"});
  EXPECT_THAT(text, HasSubstr("5 steps of 4 rows, state of 4"));
}

// What a loop of 6 turns holds counts six times.
TEST_F(InspectTest, TheHotSpotsOfALoopAreInIt) {
  const json code = inspected({config("recurrent_loops"), "--batch-sizes", "4"});
  const json& stage = stage_of(code, kLastStage);
  const auto loops = nodes_of(stage, "control");
  ASSERT_EQ(loops.size(), 4U);
  std::int64_t flops = 0;
  std::string origins;
  for (const json& loop : loops) {
    EXPECT_EQ(loop["turns"], 6);
    flops += loop["flops"].get<std::int64_t>();
    origins += loop["origin"].get<std::string>() + "\n";
  }
  // The products with the state in each turn, of three LSTMs and GRUs of 4 and a GRU of 5.
  const std::int64_t products = 2 * 4 * (4 * 16 + 5 * 15 + 4 * 16 + 4 * 12);
  EXPECT_GT(flops, 6 * products);
  EXPECT_GT(stage["flops"], flops);
  EXPECT_THAT(origins, HasSubstr("masked_state_1/while"));
}

TEST_F(InspectTest, EachPassOfXla) {
  const json code = inspected({config("keras_export"), "--batch-sizes", "1", "--passes"});
  const json steps = inspected({config("keras_export"), "--batch-sizes", "1"});
  EXPECT_GT(code["stages"].size(), steps["stages"].size());
  EXPECT_EQ(stages_of(code).back(), kLastStage);
}

TEST_F(InspectTest, WhatAFlagChanges) {
  const std::string flags = "  xla_flags: [\"--xla_cpu_enable_fast_math=false\"]\n";
  std::string text = files_.read(config("keras_export")).value_or("");
  const auto at = text.find("compilation:\n");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + std::string("compilation:\n").size(), flags);
  std::filesystem::copy(model("keras_export") + "/saved_model", root_ / "saved_model",
                        std::filesystem::copy_options::recursive);
  ASSERT_TRUE(files_.replace_atomically(root_ / "flags.yaml", text));
  const json code = inspected({"flags.yaml"});
  ASSERT_EQ(code["flags"].size(), 1U);
  EXPECT_EQ(code["flags"][0]["flag"], "--xla_cpu_enable_fast_math=false");
  EXPECT_EQ(code["flags"][0]["problem"], "");
  EXPECT_GT(code["flags"][0]["without"]["code_bytes"], 0);
  const json both = inspected({"flags.yaml", "--against-no-flags"});
  EXPECT_EQ(both["same_code"], code["flags"][0]["same_code"]);
}

TEST_F(InspectTest, TwoBatchSizes) {
  const std::string text = done({"inspect", "-q", config("keras_export"), "--batch-sizes", "1,64"});
  EXPECT_THAT(text, HasSubstr("estimated time of a row"));
  EXPECT_THAT(text, HasSubstr("code bytes"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
