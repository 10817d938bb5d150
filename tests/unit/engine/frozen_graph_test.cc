// SPDX-License-Identifier: Apache-2.0
#include "front/graph/model_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "front/graph/graph_source.h"
#include "tests/support/temporary_folder.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

std::string graph_node(const std::string& name, const std::string& op,
                       const std::vector<std::string>& inputs, const std::string& attributes = "") {
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  const std::string type = op == "Placeholder" || op == "Const" ? "dtype" : "T";
  return text + "attr { key: '" + type + "' value { type: DT_FLOAT } } " + attributes + "}\n";
}

std::string graph_placeholder(const std::string& name, const std::vector<std::string>& sizes) {
  std::string shape;
  for (const std::string& size : sizes) shape += " dim { size: " + size + " }";
  if (sizes.empty()) shape = "unknown_rank: true";
  return graph_node(name, "Placeholder", {},
                    "attr { key: 'shape' value { shape {" + shape + "} } } ");
}

const std::string kConstantValue =
    "attr { key: 'value' value { tensor { dtype: DT_FLOAT "
    "tensor_shape { } float_val: 2 } } } ";

class FrozenGraphTest : public ::testing::Test {
 protected:
  void write(const std::string& graph) {
    std::ofstream(path_) << graph << "versions { producer: 1000 }\n";
  }
  JobModel job(const std::vector<std::string>& inputs) const {
    JobModel job;
    job.format = ModelFormat::kFrozenGraph;
    job.source = path_;
    for (const std::string& input : inputs) job.inputs.push_back({input, {}, false, {}});
    job.outputs = {"y"};
    return job;
  }
  static std::string lower_error(const JobModel& job) {
    const auto source = load_graph_source(job);
    if (!source) return source.error().text();
    if (const Status prepared = (*source)->prepare(); !prepared) return prepared.error().text();
    const auto lowering = (*source)->lowering({.fixed_shapes = job.fixed_shapes});
    if (!lowering) return lowering.error().text();
    const auto lowered = (*lowering)->lower(3);
    return lowered ? "" : lowered.error().text();
  }

  testing::TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "graph.pbtxt").string();
};

TEST_F(FrozenGraphTest, WhatDependsOnNoInputIsNoOutput) {
  write(graph_placeholder("x", {"-1", "4"}) + graph_node("w", "Const", {}, kConstantValue) +
        graph_node("h", "Mul", {"x", "w"}) + graph_node("y", "Neg", {"h:0"}) +
        graph_node("Adam/m", "Const", {}, kConstantValue) +
        graph_node("Adam/v", "Neg", {"Adam/m"}) + graph_node("Adam/after", "Neg", {"w", "^x"}) +
        graph_node("step", "Const", {}, kConstantValue));
  const auto functions = frozen_graph_functions(path_);
  ASSERT_TRUE(functions) << functions.error().text();
  EXPECT_THAT(functions->models.front().outputs, ElementsAre("y"));
}

TEST_F(FrozenGraphTest, OpenDimensionsGetTheirSizes) {
  write(graph_placeholder("x", {"-1", "-1", "4", "-1"}) + graph_node("y", "Neg", {"x"}));
  JobModel job = this->job({"x"});
  EXPECT_EQ(lower_error(job),
            "2 dimensions have no size: 'x:1' of input 'x', 'x:3' of input 'x'\n"
            "  give each a size, such as 10, in the config: model.dimensions: {'x:1': 10, 'x:3': "
            "10}\n"
            "  or on the command line: --dimension x:1=10 --dimension x:3=10\n"
            "  or a range, of which each call chooses a size: --dimension x:1=1..128 --dimension "
            "x:3=1..128");
  job.dimensions = {{"x:1", 5}, {"x:3", 2}};
  EXPECT_EQ(lower_error(job), "");
  const auto source = load_graph_source(job);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_THAT((*source)->inputs().front().shape, ElementsAre(-1, 5, 4, 2));
  job.fixed_shapes = true;
  EXPECT_THAT(lower_error(job), StartsWith("the dimension 'x:0' of input 'x' has no size\n"));
}

TEST_F(FrozenGraphTest, AnErrorShowsHowToSayShapes) {
  write(graph_placeholder("a", {}) + graph_placeholder("b", {}) +
        graph_node("y", "Mul", {"a", "b"}));
  EXPECT_EQ(lower_error(job({"a", "b:0"})),
            "inputs 'a', 'b' have an unknown shape\n"
            "  say it in the config, as in model.inputs: [{name: a, shape: [null, 3]}, {name: b, "
            "shape: [null, 3]}]; null is the batch");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
