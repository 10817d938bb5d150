// SPDX-License-Identifier: Apache-2.0
// Placeholders that are no inputs get their values from the config.
#include "front/graph/model_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "make_nodes.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using ::testing::ElementsAre;

tf::NodeDef placeholder(const std::string& name, tf::DataType type,
                        const tf::PartialTensorShape& shape,
                        const std::string& operation = "Placeholder") {
  tf::NodeDef made = node(name, operation);
  tf::AddNodeAttr("dtype", type, &made);
  tf::AddNodeAttr("shape", shape, &made);
  return made;
}

tf::PartialTensorShape scalar() { return tf::PartialTensorShape(tf::TensorShape().AsProto()); }

// An input x, a truth value, and numbers of one known and one open dimension.
tf::GraphDef graph_with_switches() {
  tf::GraphDef graph;
  graph.mutable_versions()->set_producer(1882);
  *graph.add_node() = placeholder("x", tf::DT_FLOAT, tf::PartialTensorShape({-1, 3}));
  *graph.add_node() = placeholder("norm/keras_learning_phase", tf::DT_BOOL, {});
  *graph.add_node() = placeholder("scale", tf::DT_HALF, tf::PartialTensorShape({2, -1}));
  *graph.add_node() = placeholder("axis", tf::DT_INT32, scalar());
  *graph.add_node() = placeholder("text", tf::DT_STRING, {});
  *graph.add_node() = node("y", "Identity", {"x"});
  return graph;
}

tf::Tensor value_of(const tf::NodeDef& node) {
  EXPECT_EQ(node.op(), "Const");
  EXPECT_EQ(node.input_size(), 0);
  tf::Tensor value;
  EXPECT_TRUE(value.FromProto(node.attr().at("value").tensor()));
  EXPECT_EQ(node.attr().at("dtype").type(), value.dtype());
  return value;
}

std::string error_of(const ModelConstant& constant) {
  tf::GraphDef graph = graph_with_switches();
  const Status fixed =
      fix_placeholders(graph, {{"norm/keras_learning_phase", {}, {"true"}}, constant}, {"x"});
  if (fixed) return "no error";
  EXPECT_EQ(fixed.error().where().key, "model.constants[1]");
  return fixed.error().text();
}

TEST(FixPlaceholders, MakesConstantsOfTheirTypeAndShape) {
  tf::GraphDef graph = graph_with_switches();
  const Status fixed = fix_placeholders(graph,
                                        {{"norm/keras_learning_phase:0", {}, {"false"}},
                                         {"scale", {2, 2}, {"1", "-0.5", "inf", "65504"}}},
                                        {"x"});
  ASSERT_TRUE(fixed) << fixed.error().text();
  EXPECT_FALSE(value_of(graph.node(1)).scalar<bool>()());
  const tf::Tensor scale = value_of(graph.node(2));
  EXPECT_EQ(scale.dtype(), tf::DT_HALF);
  EXPECT_THAT(scale.shape().dim_sizes(), ElementsAre(2, 2));
  EXPECT_EQ(static_cast<float>(scale.matrix<Eigen::half>()(0, 1)), -0.5F);
  EXPECT_EQ(graph.node(0).op(), "Placeholder");
  EXPECT_EQ(graph.node(3).op(), "Placeholder");
}

TEST(FixPlaceholders, ReplacesDefaults) {
  tf::GraphDef graph;
  *graph.add_node() = node("default", "Const");
  *graph.add_node() = placeholder("phase", tf::DT_BOOL, {}, "PlaceholderWithDefault");
  graph.mutable_node(1)->add_input("default");
  ASSERT_TRUE(fix_placeholders(graph, {{"phase", {}, {"1"}}}, {}));
  EXPECT_TRUE(value_of(graph.node(1)).scalar<bool>()());
}

TEST(FixPlaceholders, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of({"keras_learning_phase", {}, {"false"}}),
            "there is no placeholder 'keras_learning_phase'\n"
            "  did you mean 'norm/keras_learning_phase'?\n"
            "  placeholders of the model: axis, norm/keras_learning_phase, scale, text");
  EXPECT_EQ(error_of({"axes", {}, {"1"}}),
            "there is no placeholder 'axes'\n"
            "  did you mean 'axis'?\n"
            "  placeholders of the model: axis, norm/keras_learning_phase, scale, text");
  EXPECT_EQ(error_of({"x", {}, {"1"}}), "'x' is an input of the model, so it has no fixed value");
  EXPECT_EQ(error_of({"axis", {}, {"0.5"}}),
            "placeholder 'axis' has dtype int32, and 0.5 is not one");
  EXPECT_EQ(error_of({"axis", {}, {"false"}}),
            "placeholder 'axis' has dtype int32, and false is not one");
  EXPECT_EQ(error_of({"axis", {1}, {"1"}}),
            "placeholder 'axis' has the shape (), but the value has (1)");
  EXPECT_EQ(error_of({"scale", {3, 1}, {"1", "2", "3"}}),
            "placeholder 'scale' has the shape (2, ?), but the value has (3, 1)");
  EXPECT_EQ(error_of({"scale", {2, 1}, {"1", "1e6"}}),
            "placeholder 'scale' has dtype float16, and 1e6 is not one");
  EXPECT_EQ(error_of({"text", {}, {"1"}}),
            "placeholder 'text' has dtype string, which no constant can have\n"
            "  allowed: bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, "
            "bfloat16, float32, float64");
}

TEST(ReadOldShapes, AScalarsShapeWasThatOfAnyTensor) {
  const auto rank_is_known = [](int producer) {
    tf::GraphDef graph;
    graph.mutable_versions()->set_producer(producer);
    *graph.add_node() = placeholder("x", tf::DT_FLOAT, scalar());
    *graph.add_node() = placeholder("y", tf::DT_FLOAT, tf::PartialTensorShape({-1, 3}));
    read_old_shapes(graph);
    EXPECT_EQ(graph.node(1).attr().at("shape").shape().dim_size(), 2);
    return !graph.node(0).attr().at("shape").shape().unknown_rank();
  };
  EXPECT_FALSE(rank_is_known(0));
  EXPECT_FALSE(rank_is_known(21));
  EXPECT_TRUE(rank_is_known(22));
}

TEST(ReadBools, AllButZeroBecomeOne) {
  const auto constant = [] {
    tf::NodeDef node;
    node.set_op("Const");
    auto& value = *(*node.mutable_attr())["value"].mutable_tensor();
    value.set_dtype(tf::DT_BOOL);
    value.mutable_tensor_shape()->add_dim()->set_size(3);
    value.set_tensor_content(std::string("\x07\0\1", 3));
    return node;
  };
  tf::GraphDef graph;
  *graph.add_node() = constant();
  *graph.mutable_library()->add_function()->add_node_def() = constant();
  read_bools(graph);
  const std::string wanted("\1\0\1", 3);
  EXPECT_EQ(std::string(graph.node(0).attr().at("value").tensor().tensor_content()), wanted);
  const auto& inside = graph.library().function(0).node_def(0);
  EXPECT_EQ(std::string(inside.attr().at("value").tensor().tensor_content()), wanted);
}

TEST(LikelyConstants, AreSingleTruthValuesAndWholeNumbers) {
  const tf::GraphDef graph = graph_with_switches();
  std::vector<const tf::NodeDef*> placeholders;
  for (const auto& one : graph.node()) {
    if (is_placeholder(one)) placeholders.push_back(&one);
  }
  const auto constants = likely_constants(placeholders);
  ASSERT_EQ(constants.size(), 2U);
  EXPECT_EQ(constants[0].name, "norm/keras_learning_phase");
  EXPECT_EQ(value_text(constants[0]), "false");
  EXPECT_EQ(constants[1].name, "axis");
  EXPECT_EQ(value_text(constants[1]), "0");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
