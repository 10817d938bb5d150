// SPDX-License-Identifier: Apache-2.0
// Variables of the same name: which object each of them is, and its key in the checkpoint.
#include "front/graph/model_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "make_nodes.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

tf::MetaGraphDef calling(const std::vector<std::string>& inputs, const std::vector<int>& captured) {
  tf::MetaGraphDef model;
  *model.mutable_graph_def()->add_node() = node("x", "Placeholder");
  *model.mutable_graph_def()->add_node() = variable("kernel", "");
  *model.mutable_graph_def()->add_node() = variable("kernel_1", "shared");
  *model.mutable_graph_def()->add_node() =
      call("called", "StatefulPartitionedCall", "f", "serve", inputs);
  auto& function = (*model.mutable_object_graph_def()->mutable_concrete_functions())["serve"];
  for (const int object : captured) function.add_bound_inputs(object);
  return model;
}

TEST(CapturedVariables, AreTheLastInputsOfACall) {
  EXPECT_THAT(captured_variables(calling({"x", "kernel_1", "kernel:0", "^x"}, {7, 3})),
              ElementsAre(Pair("kernel", 3), Pair("shared", 7)));
}

TEST(CapturedVariables, AreNoneWhereACallHasFewerInputs) {
  EXPECT_THAT(captured_variables(calling({"kernel"}, {7, 3})), IsEmpty());
}

// Children as (name, number).
template <class Node>
void add_object(google::protobuf::RepeatedPtrField<Node>& nodes,
                const std::vector<std::pair<std::string, int>>& children) {
  auto* const made = nodes.Add();
  for (const auto& [name, number] : children) {
    made->add_children()->set_local_name(name);
    made->mutable_children()->rbegin()->set_node_id(number);
  }
}

void add_variable(tf::TrackableObjectGraph& graph, const std::string& name,
                  const std::string& key) {
  auto* const value = graph.add_nodes()->add_attributes();
  value->set_name("VARIABLE_VALUE");
  value->set_full_name(name);
  value->set_checkpoint_key(key);
}

// The checkpoint has fewer objects, in another order, and a way back to the first.
TEST(CapturedVariables, AreFoundInTheCheckpointByTheNamesOnTheWay) {
  tf::SavedObjectGraph model;
  add_object(*model.mutable_nodes(), {{"layer", 1}, {"signatures", 2}});
  add_object(*model.mutable_nodes(), {{"a", 3}, {"b", 4}, {"parent", 0}});
  add_object(*model.mutable_nodes(), {{"nowhere", 99}});
  add_object(*model.mutable_nodes(), {});
  add_object(*model.mutable_nodes(), {});
  tf::TrackableObjectGraph checkpoint;
  add_object(*checkpoint.mutable_nodes(), {{"layer", 3}});
  add_variable(checkpoint, "kernel", "layer/b/value");
  add_variable(checkpoint, "kernel", "layer/a/value");
  add_object(*checkpoint.mutable_nodes(), {{"b", 1}, {"a", 2}, {"parent", 0}});
  EXPECT_THAT(keys_of_objects(model, checkpoint),
              ElementsAre(Pair(3, "layer/a/value"), Pair(4, "layer/b/value")));
}

TEST(CapturedVariables, HaveAKeyByNameIfNoOtherHasThatName) {
  tf::TrackableObjectGraph checkpoint;
  add_variable(checkpoint, "kernel", "a");
  add_variable(checkpoint, "bias", "b");
  EXPECT_THAT(key_of_name(checkpoint, "bias"), Optional(std::string("b")));
  EXPECT_EQ(key_of_name(checkpoint, "other"), std::nullopt);
  add_variable(checkpoint, "kernel", "c");
  EXPECT_EQ(key_of_name(checkpoint, "kernel"), std::nullopt);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
