// SPDX-License-Identifier: Apache-2.0
// Which parts of an untrusted graph TensorFlow gets to see.
#include "front/graph/safe_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "make_nodes.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

tf::GraphDef graph_of(const std::vector<tf::NodeDef>& nodes,
                      const std::vector<tf::FunctionDef>& functions = {}) {
  tf::GraphDef graph;
  for (const auto& one : nodes) *graph.add_node() = one;
  for (const auto& one : functions) *graph.mutable_library()->add_function() = one;
  return graph;
}

std::vector<std::string> refused(tf::GraphDef graph) {
  std::vector<std::string> found;
  const auto allows = [](const std::string& op) { return is_compiled(op) || is_pure(op); };
  const auto refuse = [&](const std::vector<BlamedNode>& nodes) {
    for (const BlamedNode& one : nodes) found.push_back(one.text);
    return Error("refused");
  };
  const Status done = make_safe(graph, {allows, refuse});
  if (!done && found.empty()) found.push_back(done.error().message());
  return found;
}

std::vector<std::string> operations(const tf::FunctionDef& function) {
  std::vector<std::string> names;
  for (const auto& one : function.node_def()) names.push_back(one.op());
  return names;
}

TEST(SafeGraph, KnowsWhatOnlyComputes) {
  for (const char* op : {"Add", "MatMul", "Shape", "StringJoin", "StringToNumber", "DecodeRaw",
                         "StatelessRandomUniformV2"}) {
    EXPECT_TRUE(is_pure(op)) << op;
  }
  // Files, the network, other programs, state: all of these could be constant in a graph.
  for (const char* op : {"ReadFile",
                         "MatchingFiles",
                         "ImmutableConst",
                         "DebugIdentity",
                         "DebugIdentityV2",
                         "DebugIdentityV3",
                         "DebugNanCount",
                         "DebugNumericSummary",
                         "DebugNumericSummaryV2",
                         "Copy",
                         "CopyHost",
                         "DecodeProtoV2",
                         "EncodeProto",
                         "GenerateVocabRemapping",
                         "Abort",
                         "WriteFile",
                         "PrintV2",
                         "Print",
                         "PyFunc",
                         "EagerPyFunc",
                         "RestoreV2",
                         "Restore",
                         "SaveV2",
                         "Save",
                         "MergeV2Checkpoints",
                         "TextLineDataset",
                         "DatasetFromGraph",
                         "MapDataset",
                         "BatchFunction",
                         "MapDefun",
                         "RemoteCall",
                         "InitializeTableFromTextFileV2",
                         "InitializeTableFromTextFile",
                         "LookupTableFindV2",
                         "SnapshotDatasetReader",
                         "TfLiteSubgraphExecute",
                         "XlaLaunchV2",
                         "SdcaOptimizer",
                         "WholeFileReaderV2",
                         "LoadAndRemapMatrix",
                         "FixedUnigramCandidateSampler",
                         "Skipgram",
                         "CustomAggregator",
                         "XlaCustomCall",
                         "XlaCustomCallV2",
                         "NoSuchOperation"}) {
    EXPECT_FALSE(is_pure(op)) << op;
    EXPECT_FALSE(is_compiled(op)) << op;
  }
  EXPECT_TRUE(is_compiled("RandomUniform"));  // refused later, where it is not dead
  EXPECT_FALSE(is_pure("RandomUniform"));
}

TEST(SafeGraph, RefusesByName) {
  EXPECT_THAT(refused(graph_of({node("n", "Const"), node("r", "ReadFile", {"n"}),
                                node("d", "DebugIdentity", {"r"})})),
              ElementsAre("op 'ReadFile' (node 'r')", "op 'DebugIdentity' (node 'd')"));
  EXPECT_THAT(refused(graph_of({node("n", "Const")})), IsEmpty());
}

TEST(SafeGraph, LooksIntoFunctionsOfAllKinds) {
  const auto reads =
      function_of("reads", {}, {node("r", "ReadFile", {"n:output:0"})}, {"r:contents:0"});
  const auto twice =
      function_of("twice", {}, {call("c", "PartitionedCall", "f", "reads")}, {"c:output:0"});
  const std::string expected = "op 'ReadFile' (node 'r' in function 'reads')";
  for (const auto& one :
       {call("a", "PartitionedCall", "f", "reads"), call("a", "StatelessWhile", "body", "reads"),
        call("a", "StatelessWhile", "cond", "twice"), call("a", "If", "else_branch", "twice"),
        call("a", "SymbolicGradient", "f", "reads"), node("a", "reads")}) {
    EXPECT_THAT(refused(graph_of({one}, {reads, twice})), ElementsAre(expected)) << one.op();
  }
  tf::NodeDef cases = node("a", "StatelessCase");
  tf::NameAttrList list;
  list.set_name("twice");
  tf::AddNodeAttr("branches", std::vector<tf::NameAttrList>{list}, &cases);
  EXPECT_THAT(refused(graph_of({cases}, {reads, twice})), ElementsAre(expected));
}

TEST(SafeGraph, LooksIntoGradients) {
  tf::GraphDef graph =
      graph_of({call("a", "SymbolicGradient", "f", "plain")},
               {function_of("plain", {"x"}, {}, {"x"}),
                function_of("reads", {}, {node("r", "ReadFile")}, {"r:contents:0"})});
  auto* gradient = graph.mutable_library()->add_gradient();
  gradient->set_function_name("plain");
  gradient->set_gradient_func("reads");
  EXPECT_THAT(refused(graph), ElementsAre("op 'ReadFile' (node 'r' in function 'reads')"));
}

TEST(SafeGraph, RemovesWhatNothingNeeds) {
  tf::GraphDef graph =
      graph_of({call("a", "PartitionedCall", "f", "used")},
               {function_of("used", {"x"},
                            {node("dead", "ReadFile", {"x"}), node("y", "Neg", {"x"}),
                             node("kept", "Assert", {"x", "z:y:0"}), node("z", "Abs", {"x"})},
                            {"y:y:0"}),
                function_of("unused", {}, {node("r", "ReadFile")}, {"r:contents:0"})});
  const auto allows = [](const std::string& op) { return is_compiled(op); };
  ASSERT_TRUE(make_safe(graph, {allows, [](const auto&) { return Error("refused"); }}));
  ASSERT_EQ(graph.library().function_size(), 1);
  EXPECT_THAT(operations(graph.library().function(0)), ElementsAre("Neg", "Assert", "Abs"));
}

TEST(SafeGraph, RefusesNamesThatMeanTwoThings) {
  const auto body = function_of("f", {"x"}, {}, {"x"});
  EXPECT_THAT(refused(graph_of({node("a", "f")}, {body, body})),
              ElementsAre("the model has two functions of the name 'f'"));
  EXPECT_THAT(
      refused(graph_of({node("a", "ReadFile")}, {function_of("ReadFile", {"x"}, {}, {"x"})})),
      ElementsAre("the model has a function 'ReadFile', which is an operation's name"));
}

// Otherwise TensorFlow would run such a loop ahead if all its inputs are constant.
TEST(SafeGraph, SaysThatCallsHaveState) {
  tf::GraphDef graph = graph_of(
      {call("loop", "StatelessWhile", "body", "outer"),
       call("pure", "StatelessIf", "then_branch", "plain")},
      {function_of("outer", {}, {call("c", "PartitionedCall", "f", "inner")}, {"c:output:0"}),
       function_of("inner", {}, {node("r", "RandomUniform")}, {"r:output:0"}),
       function_of("plain", {"x"}, {}, {"x"})});
  ASSERT_TRUE(make_safe(graph, {is_compiled, [](const auto&) { return Error("refused"); }}));
  EXPECT_EQ(graph.node(0).op(), "While");
  EXPECT_EQ(graph.node(1).op(), "StatelessIf");
  EXPECT_THAT(operations(graph.library().function(0)), ElementsAre("StatefulPartitionedCall"));
  EXPECT_TRUE(graph.library().function(0).signature().is_stateful());
  EXPECT_FALSE(graph.library().function(2).signature().is_stateful());
}

TEST(SafeGraph, RefusesFunctionsThatCallThemselves) {
  const auto a = function_of("a", {}, {call("c", "PartitionedCall", "f", "b")}, {"c:output:0"});
  const auto b = function_of("b", {}, {call("c", "PartitionedCall", "f", "a")}, {"c:output:0"});
  EXPECT_THAT(refused(graph_of({node("x", "a")}, {a, b})),
              ElementsAre("the model's function 'a' calls itself"));
  const auto c = function_of("c", {}, {call("d", "PartitionedCall", "f", "e")}, {"d:output:0"});
  const auto d = function_of("d", {}, {call("d", "PartitionedCall", "f", "c"), node("e", "e")},
                             {"d:output:0"});
  const auto e = function_of("e", {"x"}, {}, {"x"});
  EXPECT_THAT(refused(graph_of({node("x", "d"), node("y", "c")}, {c, d, e})), IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
