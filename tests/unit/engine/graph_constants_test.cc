// SPDX-License-Identifier: Apache-2.0
// Large constants of a TensorFlow graph are weights, wherever in its functions they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "front/graph/graph_source.h"
#include "make_nodes.h"
#include "tensorflow/core/public/version.h"
#include "tests/unit/engine/evaluate_lowering.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using DefinitionHelper = tf::FunctionDefHelper;

template <class T = float>
tf::Tensor counted(const tf::TensorShape& shape, T first = 1) {
  tf::Tensor tensor(tf::DataTypeToEnum<T>::value, shape);
  std::iota(tensor.flat<T>().data(), tensor.flat<T>().data() + tensor.NumElements(), first);
  return tensor;
}

using Attributes = std::vector<std::pair<std::string, DefinitionHelper::AttrValueWrapper>>;
DefinitionHelper::Node function_node(const std::string& name, const std::string& type,
                                     const std::vector<std::string>& inputs,
                                     const Attributes& attributes = {}) {
  DefinitionHelper::Node made;
  made.ret = {name};
  made.op = type;
  made.arg = inputs;
  made.attr = attributes;
  return made;
}
DefinitionHelper::Node const_node(const std::string& name, const tf::Tensor& value) {
  return function_node(name, "Const", {}, {{"dtype", value.dtype()}, {"value", value}});
}
DefinitionHelper::Node add_node(const std::string& name, const std::string& a,
                                const std::string& b) {
  return function_node(name, "AddV2", {a, b}, {{"T", tf::DT_FLOAT}});
}
// A function of rows of 16 floats.
tf::FunctionDef function_of_rows(const std::string& name,
                                 const std::vector<DefinitionHelper::Node>& nodes,
                                 const std::string& result) {
  return DefinitionHelper::Create(name, {"x: float"}, {"y: float"}, {}, nodes, {{"y", result}});
}

// y = OPERATION(x), which calls functions of the library.
class CallingModel final : public ModelGraph {
 public:
  CallingModel(const tf::NodeDef& operation, const std::vector<tf::FunctionDef>& functions) {
    label_ = "the model";
    graph_.mutable_versions()->set_producer(TF_GRAPH_DEF_VERSION);
    tf::NodeDef x = node("x", "Placeholder");
    tf::AddNodeAttr("dtype", tf::DT_FLOAT, &x);
    *graph_.add_node() = x;
    *graph_.add_node() = operation;
    for (const auto& one : functions) *graph_.mutable_library()->add_function() = one;
    inputs_ = {{"x", "x:0", tf::DT_FLOAT, true, {-1, 16}}};
    outputs_ = {{"y", operation.name() + ":0", tf::DT_FLOAT, true, {-1, 16}}};
  }
  tf::GraphDef& graph() { return graph_; }
  Result<StoredTensor> variable(const tf::NodeDef&) override { return fail(Error("no variable")); }
  Result<std::unique_ptr<tf::Session>> session(const tf::GraphDef&) override {
    return fail(Error("no session"));
  }
};

tf::NodeDef call_of_rows(const std::string& function) {
  tf::NodeDef made = call("call", "PartitionedCall", "f", function, {"x"});
  tf::AddNodeAttr("Tin", tf::DataTypeVector{tf::DT_FLOAT}, &made);
  tf::AddNodeAttr("Tout", tf::DataTypeVector{tf::DT_FLOAT}, &made);
  return made;
}

testing::MadeOfRow made_of_graph(ModelGraph& model, const LoweringOptions& options = {}) {
  auto function = make_signature_function(model);
  if (!function) {
    ADD_FAILURE() << function.error().text();
    return {};
  }
  const auto lowering = make_graph_lowering(model, *function, options);
  if (!lowering) {
    ADD_FAILURE() << lowering.error().text();
    return {};
  }
  return testing::made_of_row(**lowering);
}

TEST(GraphConstants, OfAFunctionAreWeights) {
  CallingModel model(
      call_of_rows("__inference_predict_57"),
      {function_of_rows(
          "__inference_predict_57",
          {const_node("large", counted({16})), const_node("small", counted({1}, 100.0F)),
           add_node("a", "x", "large:output:0"), add_node("b", "a:z:0", "small:output:0")},
          "b:z:0")});
  const testing::MadeOfRow made = made_of_graph(model);
  EXPECT_THAT(made.weights, ElementsAre("predict/large"));
  EXPECT_THAT(made.output, ElementsAre(102, 103, 104));
  EXPECT_THAT(made.from_code, Each(101));
}

TEST(GraphConstants, AreCodeIfWeightsAreEmbedded) {
  CallingModel model(
      call_of_rows("f"),
      {function_of_rows("f", {const_node("c", counted({16})), add_node("a", "x", "c:output:0")},
                        "a:z:0")});
  const testing::MadeOfRow made = made_of_graph(model, {.embed_weights = true});
  EXPECT_THAT(made.weights, IsEmpty());
  EXPECT_THAT(made.from_code, ElementsAre(2, 3, 4));
}

TEST(GraphConstants, OfTheGraphItselfOfOtherTypes) {
  tf::NodeDef sum = node("sum", "AddV2", {"x", "cast"});
  tf::AddNodeAttr("T", tf::DT_FLOAT, &sum);
  CallingModel model(sum, {});
  tf::Tensor halves(tf::DT_HALF, {16});
  halves.flat<Eigen::half>().setConstant(Eigen::half(0));
  for (int i = 0; i < 16; ++i) halves.flat<Eigen::half>()(i) = Eigen::half(static_cast<float>(i));
  tf::NodeDef value = node("halves", "Const");
  tf::AddNodeAttr("dtype", tf::DT_HALF, &value);
  tf::AddNodeAttr("value", halves, &value);
  tf::NodeDef cast = node("cast", "Cast", {"halves"});
  tf::AddNodeAttr("SrcT", tf::DT_HALF, &cast);
  tf::AddNodeAttr("DstT", tf::DT_FLOAT, &cast);
  *model.graph().add_node() = value;
  *model.graph().add_node() = cast;
  const testing::MadeOfRow made = made_of_graph(model);
  EXPECT_THAT(made.weights, ElementsAre("halves"));
  EXPECT_THAT(made.output, ElementsAre(1, 2, 3));
  EXPECT_THAT(made.from_code, Each(1));
}

TEST(GraphConstants, OfAFunctionThatIsCalledTwiceAreStoredOnce) {
  CallingModel model(
      call_of_rows("outer"),
      {function_of_rows(
           "outer",
           {function_node("one", "inner", {"x"}), function_node("two", "inner", {"one:y:0"}),
            function_node("three", "inner_8", {"two:y:0"})},
           "three:y:0"),
       function_of_rows("inner", {const_node("c", counted({16})), add_node("a", "x", "c:output:0")},
                        "a:z:0"),
       function_of_rows("inner_8",
                        {const_node("c", counted({16})), add_node("a", "x", "c:output:0")},
                        "a:z:0")});
  const testing::MadeOfRow made = made_of_graph(model);
  EXPECT_THAT(made.weights, ElementsAre("inner/c", "inner/c_2"));
  EXPECT_THAT(made.output, ElementsAre(4, 7, 10));
  EXPECT_THAT(made.from_code, Each(1));
}

// Three turns; a branch is taken in each, by the data.
TEST(GraphConstants, OfLoopsAndBranchesAreWeights) {
  const tf::FunctionDef condition = DefinitionHelper::Create(
      "condition", {"i: int32", "x: float"}, {"more: bool"}, {},
      {const_node("three", tf::Tensor(3)),
       function_node("less", "Less", {"i", "three:output:0"}, {{"T", tf::DT_INT32}})},
      {{"more", "less:z:0"}});
  const auto chosen = [](const std::string& name) {
    tf::NameAttrList list;
    list.set_name(name);
    return list;
  };
  const tf::FunctionDef body = DefinitionHelper::Create(
      "body", {"i: int32", "x: float"}, {"j: int32", "y: float"}, {},
      {const_node("one", tf::Tensor(1)),
       function_node("j", "AddV2", {"i", "one:output:0"}, {{"T", tf::DT_INT32}}),
       const_node("c", counted({16})), add_node("a", "x", "c:output:0"),
       const_node("zero", tf::Tensor(std::int32_t{0})),
       function_node("is_first", "Equal", {"i", "zero:output:0"}, {{"T", tf::DT_INT32}}),
       function_node("y", "StatelessIf", {"is_first:z:0", "a:z:0"},
                     {{"Tcond", tf::DT_BOOL},
                      {"Tin", tf::DataTypeVector{tf::DT_FLOAT}},
                      {"Tout", tf::DataTypeVector{tf::DT_FLOAT}},
                      {"then_branch", chosen("then")},
                      {"else_branch", chosen("else")}})},
      {{"j", "j:z:0"}, {"y", "y:output:0"}});
  const tf::FunctionDef loop =
      function_of_rows("loop",
                       {const_node("start", tf::Tensor(std::int32_t{0})),
                        function_node("while", "StatelessWhile", {"start:output:0", "x"},
                                      {{"T", tf::DataTypeVector{tf::DT_INT32, tf::DT_FLOAT}},
                                       {"cond", chosen("condition")},
                                       {"body", chosen("body")}})},
                       "while:output:1");
  CallingModel model(
      call_of_rows("loop"),
      {loop, condition, body,
       function_of_rows("then",
                        {const_node("c", counted({16}, 100.0F)), add_node("a", "x", "c:output:0")},
                        "a:z:0"),
       function_of_rows("else", {function_node("same", "Identity", {"x"}, {{"T", tf::DT_FLOAT}})},
                        "same:output:0")});
  const testing::MadeOfRow made = made_of_graph(model);
  EXPECT_THAT(made.weights, ElementsAre("body/c", "then/c"));
  EXPECT_THAT(made.output, ElementsAre(104, 108, 112));
  EXPECT_THAT(made.from_code, Each(1));
}

// tf.zeros() and the like.
TEST(GraphConstants, OneNumberForAllElementsIsCode) {
  tf::FunctionDef function = function_of_rows(
      "f", {const_node("c", counted({16})), add_node("a", "x", "c:output:0")}, "a:z:0");
  tf::TensorProto& value =
      *(*function.mutable_node_def(0)->mutable_attr())["value"].mutable_tensor();
  value.clear_tensor_content();
  value.clear_float_val();
  value.add_float_val(5);
  CallingModel model(call_of_rows("f"), {function});
  EXPECT_THAT(made_of_graph(model).weights, IsEmpty());
}

// Places that are known while compiling, and a size that follows from values.
TEST(GraphConstants, ThatDecideAboutShapesAreCode) {
  CallingModel model(
      call_of_rows("f"),
      {function_of_rows(
          "f",
          {const_node("mask", counted({16})), const_node("limit", tf::Tensor(0.0F)),
           function_node("is_on", "Greater", {"mask:output:0", "limit:output:0"},
                         {{"T", tf::DT_FLOAT}}),
           function_node("where", "Where", {"is_on:z:0"}, {{"T", tf::DT_BOOL}}),
           const_node("flat", counted<std::int32_t>({1}, -1)),
           function_node("places", "Reshape", {"where:index:0", "flat:output:0"},
                         {{"T", tf::DT_INT64}, {"Tshape", tf::DT_INT32}}),
           const_node("axis", tf::Tensor(1)),
           function_node("taken", "GatherV2", {"x", "places:output:0", "axis:output:0"},
                         {{"Tparams", tf::DT_FLOAT},
                          {"Tindices", tf::DT_INT64},
                          {"Taxis", tf::DT_INT32},
                          {"batch_dims", 0}})},
          "taken:output:0")});
  const testing::MadeOfRow made = made_of_graph(model);
  EXPECT_THAT(made.weights, IsEmpty());
  EXPECT_THAT(made.output, Each(1));
}

// Whatever name it calls.
TEST(GraphConstants, CallsOfTheModelAreRefused) {
  CallingModel model(call_of_rows("f"),
                     {function_of_rows("f",
                                       {function_node("call", "XlaCustomCall", {"x"},
                                                      {{"target_name", "tfaot.constant_0"},
                                                       {"backend_config", ""},
                                                       {"T", tf::DataTypeVector{tf::DT_FLOAT}},
                                                       {"dtype", tf::DT_FLOAT},
                                                       {"shape", tf::TensorShape({2, 16})}})},
                                       "call:output:0")});
  const auto function = make_signature_function(model);
  ASSERT_FALSE(function);
  EXPECT_THAT(function.error().text(), HasSubstr("no kernel for op 'XlaCustomCall'"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
