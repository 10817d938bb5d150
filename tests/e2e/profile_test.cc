// SPDX-License-Identifier: Apache-2.0
// Real packages and TensorFlow in real runners. Nothing here is about how long something takes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProfileTest : public ToolTest {
 protected:
  nlohmann::json profile(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "profile");
    for (const char* word : {"--rounds", "3", "--round-ms", "0.1", "--json"}) {
      arguments.emplace_back(word);
    }
    const ProcessResult result = tool(arguments);
    EXPECT_TRUE(result.ok()) << result.standard_error;
    EXPECT_THAT(result.standard_error, Not(HasSubstr("predicts other numbers")));
    return nlohmann::json::parse(result.standard_output, nullptr, false);
  }
};

TEST_F(ProfileTest, MeasuresEveryStrategyAndLevel) {
  const auto found = profile({config("dtypes"), "--batch-sizes", "1,3,5", "--strategies",
                              "normal,stitching,padding", "--cpu-levels", "x86-64,x86-64-v3"});
  ASSERT_EQ(found["curves"].size(), 6U);
  for (const auto& curve : found["curves"]) {
    EXPECT_EQ(curve["sizes"].size(), 3U);
    EXPECT_GT(curve["load"]["median"], 0);
    for (const auto& size : curve["sizes"]) {
      EXPECT_EQ(size["rounds"].size(), 3U);
      EXPECT_LE(size["call"]["low"], size["call"]["median"]);
      EXPECT_LE(size["call"]["median"], size["call"]["high"]);
      EXPECT_GT(size["call"]["low"], 0);
      EXPECT_EQ(size["allocations"], 0);  // run() allocates nothing
      EXPECT_EQ(size["difference"], 0);
      EXPECT_GT(size["proportional"], 0);
    }
  }
  EXPECT_EQ(found["curves"][1]["sizes"][2]["run_as"], "4, 1");
  EXPECT_EQ(found["curves"][2]["sizes"][1]["run_as"], "4 (1 of padding)");
}

TEST_F(ProfileTest, MeasuresTensorFlowToo) {
  for (const char* name : {"dtypes", "keras_export"}) {
    const auto found =
        profile({config(name), "--peer", "tensorflow=" + model(name) + "/saved_model",
                 "--batch-sizes", "1,3"});
    ASSERT_EQ(found["curves"].size(), 2U) << name;
    const auto& peer = found["curves"][1];
    EXPECT_EQ(peer["engine"], "tensorflow");
    EXPECT_EQ(peer["sizes"].size(), 2U);
    EXPECT_GT(peer["sizes"][0]["allocations"], 0);
  }
}

// What the package has as constants, the original model takes as inputs: placeholders of several
// types, in a frozen graph and in a SavedModel.
TEST_F(ProfileTest, GivesConstantsToOtherEngines) {
  for (const auto& [name, file] : {std::pair("learning_phase", "/frozen_graph.pb"),
                                   std::pair("tf1_constant_inputs", "/saved_model")}) {
    const auto found =
        profile({config(name), "--peer", "tensorflow=" + model(name) + file, "--batch-sizes", "1"});
    ASSERT_EQ(found["curves"].size(), 2U) << name;
    const auto& size = found["curves"][1]["sizes"][0];
    EXPECT_LT(size["difference"], 1e-5 * std::max(1.0, size["largest"].get<double>())) << name;
  }
}

// The counters of XLA's instrumented code are found, and add up.
TEST_F(ProfileTest, TellsTheShareOfEachOperation) {
  for (const char* name : {"convolution", "row_loops"}) {
    const auto found = profile({config(name), "--per-op"});
    const std::size_t sizes = found["curves"][0]["sizes"].size();
    ASSERT_EQ(found["operations"].size(), sizes) << name;
    for (const auto& code : found["operations"]) {
      EXPECT_GT(code["call"], 0);
      EXPECT_GT(code["instrumented"], 0);
      double sum = 0;
      bool has_kernel = false;
      std::string origins;
      for (const auto& operation : code["operations"]) {
        if (operation["inside"] == "") sum += operation["share"].get<double>();
        has_kernel |= operation["category"].get<std::string>().starts_with("kernel tfaot_");
        origins += "\n" + operation["origin"].get<std::string>();
      }
      EXPECT_NEAR(sum, 1, 0.05) << name;
      EXPECT_TRUE(has_kernel) << name;
      EXPECT_THAT(origins, HasSubstr(std::string(name) == "convolution" ? "\nConv2D" : "/"))
          << name;
    }
  }
}

// Each tool that is installed; both know the heap of a plain process to a few kilobytes.
TEST_F(ProfileTest, WatchesTheHeap) {
  bool any = false;
  for (const char* heap_tool : {"massif", "heaptrack"}) {
    ProcessSpec version;
    version.program = std::string(heap_tool) == "massif" ? "valgrind" : heap_tool;
    version.arguments = {"--version"};
    const auto installed = run_process(version);
    if (!installed || !installed->ok()) continue;
    any = true;
    const auto found = profile({config("convolution"), "--heap", heap_tool});
    EXPECT_EQ(found["heap_tool"], heap_tool);
    const auto& heap = found["curves"][0]["heap"];
    EXPECT_GT(heap["peak"], found["empty_heap"]["peak"]) << heap_tool;
    EXPECT_GT(found["empty_heap"]["peak"], 1000) << heap_tool;
    EXPECT_LT(heap["peak"], 10'000'000) << heap_tool;
    ASSERT_GE(heap["over_time"].size(), 2U) << heap_tool;
    EXPECT_LE(heap["over_time"].back()["bytes"], heap["peak"]);
    EXPECT_GT(heap["over_time"].back()["ms"], heap["over_time"].front()["ms"]);
  }
  if (!any) GTEST_SKIP() << "neither valgrind nor heaptrack is installed";
}

TEST_F(ProfileTest, TakesCoupledRowsAndFixedBatches) {
  const auto found = profile({config("coupled_rows"), config("fixed_batch"), config("scalars")});
  EXPECT_EQ(found["curves"].size(), 3U);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
