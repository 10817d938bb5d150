// SPDX-License-Identifier: Apache-2.0
// Only nodes that XLA does not know are to blame.
#include "front/graph/safe_graph.h"

#include <gtest/gtest.h>

#include "make_nodes.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// As Keras exports them: without attributes that have their default.
TEST(Diagnosis, ANodeWithoutItsDefaultsHasAKernel) {
  tf::XlaOpRegistry::RegisterCompilationKernels();
  for (const char* const op : {"Shape", "Reshape", "Mean"}) {
    tf::NodeDef bare = node("one", op, {"x"});
    tf::AddNodeAttr("T", tf::DT_FLOAT, &bare);
    EXPECT_FALSE(has_no_xla_kernel(bare)) << op;
  }
  tf::NodeDef bicubic = node("one", "ResizeBicubic", {"x", "sizes"});
  tf::AddNodeAttr("T", tf::DT_FLOAT, &bicubic);
  EXPECT_TRUE(has_no_xla_kernel(bicubic));
}

TEST(Diagnosis, AnOperationThatNobodyKnowsHasNone) {
  EXPECT_TRUE(has_no_xla_kernel(node("one", "NoSuchOperation")));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
