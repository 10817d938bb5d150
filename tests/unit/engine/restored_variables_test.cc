// SPDX-License-Identifier: Apache-2.0
// Restore operations as TensorFlow 1 and 2 write them, and those that must be left to TensorFlow
// itself.
#include "front/graph/model_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "make_nodes.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

tf::MetaGraphDef restored_model_of(const std::vector<tf::NodeDef>& nodes) {
  tf::MetaGraphDef model;
  for (const auto& one : nodes) *model.mutable_graph_def()->add_node() = one;
  model.mutable_saver_def()->set_restore_op_name("restore_all");
  return model;
}

// As in TensorFlow 1: in the graph itself.
std::vector<tf::NodeDef> old_restore(const std::vector<std::string>& parts = {"", ""}) {
  return {node("prefix", "Placeholder"),
          texts("keys", {"a/key", "b/key"}),
          texts("parts", parts),
          node("read", "RestoreV2", {"prefix", "keys", "parts"}),
          variable("a", ""),
          node("b", "VariableV2"),
          node("seen", "Identity", {"read"}),
          node("set_a", "AssignVariableOp", {"a", "seen"}),
          node("set_b", "Assign", {"b", "read:1"}),
          node("restore_all", "NoOp", {"^set_a", "^set_b"})};
}

TEST(RestoredVariables, FollowsTheGraph) {
  const auto found = restored_variables(restored_model_of(old_restore()));
  EXPECT_THAT(found.keys, ElementsAre(Pair("a", "a/key"), Pair("b", "b/key")));
  EXPECT_THAT(found.others, IsEmpty());
}

TEST(RestoredVariables, FollowsACall) {
  tf::NodeDef call =
      node("restore_all", "StatefulPartitionedCall", {"prefix", "second", "first", "unused"});
  tf::NameAttrList function;
  function.set_name("restore");
  tf::AddNodeAttr("f", function, &call);
  tf::MetaGraphDef model =
      restored_model_of({node("prefix", "Placeholder"), variable("first", "dense/w"),
                         variable("second", "dense/b"), variable("unused", "u"), call});
  tf::FunctionDef& body = *model.mutable_graph_def()->mutable_library()->add_function();
  body.mutable_signature()->set_name("restore");
  for (const char* name : {"file", "b", "w", "u"}) {
    body.mutable_signature()->add_input_arg()->set_name(name);
  }
  for (const auto& one : {texts("keys", {"w/key", "b/key"}), texts("parts", {"", ""}),
                          node("read", "RestoreV2", {"file", "keys:output:0", "parts:output:0"}),
                          node("one", "Identity", {"read:tensors:1"}),
                          node("set_b", "AssignVariableOp", {"b", "one:output:0"}),
                          node("set_w", "AssignVariableOp", {"w", "read:tensors:0"})}) {
    *body.add_node_def() = one;
  }
  const auto found = restored_variables(model);
  EXPECT_THAT(found.keys, ElementsAre(Pair("dense/b", "b/key"), Pair("dense/w", "w/key")));
  EXPECT_THAT(found.others, ElementsAre("u"));
}

TEST(RestoredVariables, LeavesPartsOfTensorsToTensorFlow) {
  const auto found = restored_variables(restored_model_of(old_restore({"4 0,2", ""})));
  EXPECT_THAT(found.keys, ElementsAre(Pair("b", "b/key")));
  EXPECT_THAT(found.others, ElementsAre("a"));
}

TEST(RestoredVariables, LeavesWhatIsInitialisedToTensorFlow) {
  auto nodes = old_restore();
  nodes.push_back(node("init_a", "AssignVariableOp", {"a", "seen"}));
  nodes.push_back(node("init", "NoOp", {"^init_a"}));
  tf::MetaGraphDef model = restored_model_of(nodes);
  (*(*model.mutable_signature_def())["__saved_model_init_op"].mutable_outputs())["op"].set_name(
      "init:0");
  EXPECT_THAT(restored_variables(model).others, ElementsAre("a"));

  tf::MetaGraphDef old = restored_model_of(nodes);
  (*old.mutable_collection_def())["legacy_init_op"].mutable_node_list()->add_value("init");
  EXPECT_THAT(restored_variables(old).keys, ElementsAre(Pair("b", "b/key")));
  EXPECT_THAT(restored_variables(old).others, ElementsAre("a"));
}

TEST(RestoredVariables, LeavesDoubtToTensorFlow) {
  auto nodes = old_restore();
  nodes[5] = variable("b", "a");
  const auto found = restored_variables(restored_model_of(nodes));
  EXPECT_THAT(found.keys, IsEmpty());
  EXPECT_THAT(found.others, ElementsAre("a"));
}

TEST(RestoredVariables, KnowsNothingOfAModelWithoutARestore) {
  const auto found = restored_variables(tf::MetaGraphDef());
  EXPECT_THAT(found.keys, IsEmpty());
  EXPECT_THAT(found.others, IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
