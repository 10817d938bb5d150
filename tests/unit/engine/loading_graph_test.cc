// SPDX-License-Identifier: Apache-2.0
// What runs when the variables of an untrusted SavedModel are filled.
#include "front/graph/safe_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "make_nodes.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

tf::MetaGraphDef model_of(const std::vector<tf::NodeDef>& nodes) {
  tf::MetaGraphDef model;
  for (const auto& one : nodes) *model.mutable_graph_def()->add_node() = one;
  model.mutable_saver_def()->set_filename_tensor_name("path:0");
  model.mutable_saver_def()->set_restore_op_name("restore_all");
  (*model.mutable_collection_def())["saved_model_main_op"].mutable_node_list()->add_value("init");
  return model;
}

Result<LoadingGraph> loading(const tf::MetaGraphDef& model) {
  return loading_graph(model, model.graph_def());
}

std::vector<std::string> names(const tf::GraphDef& graph) {
  std::vector<std::string> found;
  for (const auto& one : graph.node()) found.push_back(one.name());
  return found;
}

const std::vector<tf::NodeDef> kRestore = {node("path", "Placeholder"),
                                           node("same", "Identity", {"path"}),
                                           texts("keys", {"a"}),
                                           texts("parts", {"2 0,1"}),
                                           node("read", "RestoreV2", {"same", "keys", "parts"}),
                                           variable("a", ""),
                                           node("set_a", "AssignVariableOp", {"a", "read"}),
                                           node("restore_all", "NoOp", {"^set_a"})};

std::vector<tf::NodeDef> with(std::vector<tf::NodeDef> more) {
  more.insert(more.begin(), kRestore.begin(), kRestore.end());
  return more;
}

TEST(LoadingGraph, HoldsWhatFillsVariables) {
  const auto made = loading(model_of(with({node("other", "ReadFile", {"keys"})})));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_THAT(made->restore, ElementsAre("set_a"));
  EXPECT_THAT(made->initialize, IsEmpty());
  EXPECT_EQ(made->file_tensor, "path:0");
  EXPECT_THAT(names(made->graph),
              UnorderedElementsAre("path", "same", "keys", "parts", "read", "a", "set_a"));
}

TEST(LoadingGraph, LeavesTablesOut) {
  const auto made =
      loading(model_of(with({variable("b", ""), node("set_b", "AssignVariableOp", {"b", "keys"}),
                             node("table", "HashTableV2"),
                             node("fill", "InitializeTableFromTextFileV2", {"table", "keys"}),
                             node("init", "NoOp", {"^set_b", "^fill"})})));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_THAT(made->initialize, ElementsAre("set_b"));
  EXPECT_THAT(names(made->graph), ::testing::Not(::testing::Contains("table")));
}

TEST(LoadingGraph, RefusesWhatDoesMoreThanCompute) {
  EXPECT_EQ(
      loading(model_of(with({variable("b", ""), node("text", "ReadFile", {"keys"}),
                             node("set_b", "AssignVariableOp", {"b", "text"}),
                             node("init", "NoOp", {"^set_b"})})))
          .error()
          .text(),
      "loading the model's variables would run op 'ReadFile' (node 'text')\n"
      "  tfaot runs only operations of TensorFlow that compute and do nothing else: others may "
      "read and write files\n"
      "  save the model again, with the values of its variables in it");
  tf::MetaGraphDef model = model_of(
      with({variable("b", ""), call("init", "StatefulPartitionedCall", "f", "fills", {"b"})}));
  *model.mutable_graph_def()->mutable_library()->add_function() =
      function_of("fills", {"b"}, {node("w", "WriteFile", {"b"})}, {});
  EXPECT_EQ(
      loading(model).error().message(),
      "loading the model's variables would run op 'WriteFile' (node 'w' in function 'fills')");
}

TEST(LoadingGraph, ReadsTheModelsOwnCheckpointOnly) {
  const std::string message =
      "op 'RestoreV2' (node 'steal') reads another file than the model's variables";
  EXPECT_EQ(loading(model_of(with({variable("b", ""), texts("far", {"/home/you/checkpoint"}),
                                   node("steal", "RestoreV2", {"far", "keys", "parts"}),
                                   node("set_b", "AssignVariableOp", {"b", "steal"}),
                                   node("init", "NoOp", {"^set_b"})})))
                .error()
                .message(),
            message);
  EXPECT_EQ(loading(model_of(with({variable("b", ""), node("circle", "Identity", {"circle"}),
                                   node("steal", "RestoreV2", {"circle", "keys", "parts"}),
                                   node("set_b", "AssignVariableOp", {"b", "steal"}),
                                   node("init", "NoOp", {"^set_b"})})))
                .error()
                .message(),
            message);
}

TEST(LoadingGraph, FollowsThePathIntoFunctions) {
  const auto model = [](const std::string& prefix) {
    tf::MetaGraphDef made = model_of(
        {node("path", "Placeholder"), texts("far", {"/home/you/checkpoint"}), variable("a", ""),
         call("restore_all", "StatefulPartitionedCall", "f", "restore", {"far", "path", "a"})});
    *made.mutable_graph_def()->mutable_library()->add_function() =
        function_of("restore", {"other", "file", "v"},
                    {texts("keys", {"a"}),
                     node("read", "RestoreV2", {prefix, "keys:output:0", "keys:output:0"}),
                     node("set", "AssignVariableOp", {"v", "read:tensors:0"})},
                    {});
    return made;
  };
  const auto made = loading(model("file"));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_THAT(made->restore, ElementsAre("restore_all"));
  EXPECT_EQ(
      loading(model("other")).error().message(),
      "op 'RestoreV2' (node 'read' in function 'restore') reads another file than the model's "
      "variables");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
