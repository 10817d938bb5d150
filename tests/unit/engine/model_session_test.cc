// SPDX-License-Identifier: Apache-2.0
#include "front/graph/graph_source.h"

#include <gmock/gmock.h>

#include "tensorflow/core/framework/node_def_util.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using ::testing::HasSubstr;

// y = OPERATION(x, x), of float32.
class SmallModel final : public ModelGraph {
 public:
  explicit SmallModel(const std::string& operation) {
    label_ = "the model";
    tf::NodeDef* x = graph_.add_node();
    x->set_name("x");
    x->set_op("Placeholder");
    tf::AddNodeAttr("dtype", tf::DT_FLOAT, x);
    tf::NodeDef* y = graph_.add_node();
    y->set_name("y");
    y->set_op(operation);
    y->add_input("x");
    y->add_input("x");
    tf::AddNodeAttr("T", tf::DT_FLOAT, y);
    // Of a node that is cut off.
    (*y->mutable_attr())["_class"].mutable_list()->add_s("loc:@gone");
    inputs_ = {{"x", "x:0", tf::DT_FLOAT, true, {-1}}};
    outputs_ = {{"y", "y:0", tf::DT_FLOAT, true, {-1}}};
  }
  Result<StoredTensor> variable(const tf::NodeDef&) override { return fail(Error("no variable")); }
  Result<std::unique_ptr<tf::Session>> session(const tf::GraphDef& part) override {
    std::unique_ptr<tf::Session> session(tf::NewSession(tf::SessionOptions()));
    const auto status = session->Create(part);
    if (!status.ok()) return fail(Error(std::string(status.message())));
    return session;
  }
};

tf::Tensor floats(const std::vector<float>& values) {
  tf::Tensor tensor(tf::DT_FLOAT, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.flat<float>().data());
  return tensor;
}

TEST(ModelSession, RunsTheModelsOwnNodes) {
  SmallModel model("Mul");
  auto session = ModelSession::open(model);
  ASSERT_TRUE(session) << session.error().text();
  const auto made = (*session)->run({floats({1, -3})}, std::chrono::seconds(10));
  ASSERT_TRUE(made) << made.error().text();
  ASSERT_EQ(made->size(), 1U);
  EXPECT_EQ(made->front().flat<float>()(0), 1);
  EXPECT_EQ(made->front().flat<float>()(1), 9);
}

TEST(ModelSession, SaysWhatTensorFlowSays) {
  SmallModel model("MatMul");  // of two vectors
  auto session = ModelSession::open(model);
  ASSERT_TRUE(session) << session.error().text();
  const auto made = (*session)->run({floats({1, 2})}, std::chrono::seconds(10));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text(), HasSubstr("TensorFlow: "));
}

// XLA has kernels for these, so that they are no error when a model is cut; TensorFlow's would talk
// to other processes, or write variables.
TEST(ModelSession, RefusesOperationsThatDoMoreThanCompute) {
  for (const std::string operation :
       {"CollectiveReduceV2", "XlaSend", "XlaRecv", "AssignVariableOp", "ResourceApplyAdam"}) {
    SmallModel model(operation);
    const auto session = ModelSession::open(model);
    ASSERT_FALSE(session) << operation;
    EXPECT_EQ(session.error().text(), "the model cannot be run in TensorFlow's session: op '" +
                                          operation + "' (node 'y') may do more than compute");
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
