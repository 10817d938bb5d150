// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/build_package.h"

#include <gmock/gmock.h>

#include "tfaot/package/package.h"
#include "tfaot/workflow/inspect.h"
#include "tfaot/workflow/update_package.h"
#include "workflow_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class BuildPackageTest : public WorkflowTest {
 protected:
  BuildPackageTest() {
    write_model();
    request_.config = root_ / "model/aot_config.yaml";
    request_.output_directory = root_ / "out";
    request_.engine.jobs = 1;
  }

  BuildRequest request_;
};

TEST_F(BuildPackageTest, WritesATreeThatIsWhole) {
  request_.depfile = root_ / "build/tree.d";
  request_.object_list = root_ / "build/objects.rsp";
  const auto made = build_package(context_, request_);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->manifest.tool_name, "tfaot-model-test-net");
  EXPECT_THAT(made->manifest.batch_sizes, ElementsAre(1, 4));
  EXPECT_EQ(made->objects, 2U);
  EXPECT_EQ(made->cached_objects, 0U);
  EXPECT_THAT(diagnostics_.warnings, IsEmpty());
  EXPECT_EQ(diagnostics_.steps.size(), 2U);

  const auto verified = verify_tree(files_, request_.output_directory);
  ASSERT_TRUE(verified) << verified.error().text();
  EXPECT_EQ(files_.kind(root_ / "out/.tfaot-work"), FileKind::kMissing);
  EXPECT_THAT(read(request_.depfile), StartsWith((root_ / "out/manifest.json:").string()));
  EXPECT_THAT(read(request_.object_list), HasSubstr("out/lib/test_net_bs4_x86-64.o\""));

  const auto found = inspect(context_, request_.output_directory);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->kind, Inspected::Kind::kPackageTree);
  EXPECT_EQ(std::get<Manifest>(found->content).name, "test_net");
}

TEST_F(BuildPackageTest, ErrorsNameThePlaceThatTheUserWroteOptionsIn) {
  request_.place = {"BuildFile.xml", 7};
  request_.overrides.cpu_levels = {"v9"};
  const auto of_an_option = build_package(context_, request_);
  ASSERT_FALSE(of_an_option);
  EXPECT_THAT(of_an_option.error().text(), StartsWith("BuildFile.xml:7: --cpu-levels"));
  request_.overrides.cpu_levels.clear();
  write("model/aot_config.yaml", "model:\n  name: test_net\n");
  const auto of_the_config = build_package(context_, request_);
  ASSERT_FALSE(of_the_config);
  EXPECT_THAT(of_the_config.error().text(),
              ::testing::AllOf(StartsWith((root_ / "model/aot_config.yaml:1:").string()),
                               ::testing::EndsWith("\n  asked for in BuildFile.xml:7")));
  EXPECT_EQ(files_.kind(request_.output_directory), FileKind::kMissing);
}

TEST_F(BuildPackageTest, AFailureLeavesTheTreeAsItWas) {
  ASSERT_TRUE(build_package(context_, request_));
  const std::string before = read(root_ / "out/manifest.json");
  request_.engine.engine = "/bin/false";
  request_.overrides.batch_sizes = {"2"};
  const auto made = build_package(context_, request_);
  ASSERT_FALSE(made);
  EXPECT_EQ(read(root_ / "out/manifest.json"), before);
  EXPECT_TRUE(verify_tree(files_, request_.output_directory));
}

TEST_F(BuildPackageTest, NewWeightsGoIntoTheTree) {
  ASSERT_TRUE(build_package(context_, request_));
  write("retrained/saved_model.pb", "a graph, retrained");
  UpdateRequest update;
  update.package = request_.output_directory;
  update.model = root_ / "retrained";
  update.version = "1.0.1";
  update.engine.jobs = 1;
  const auto updated = update_package(context_, update);
  ASSERT_TRUE(updated) << updated.error().text();
  EXPECT_EQ(updated->path, request_.output_directory);
  EXPECT_EQ(updated->manifest.version, "1.0.1");
  EXPECT_TRUE(verify_tree(files_, request_.output_directory));
}

TEST_F(BuildPackageTest, WeightsOfAModelInAnotherFormatAreRefused) {
  ASSERT_TRUE(build_package(context_, request_));
  write("retrained/net.onnx", "a graph, retrained");
  UpdateRequest update;
  update.package = request_.output_directory;
  update.model = root_ / "retrained/net.onnx";
  update.engine.jobs = 1;
  const auto updated = update_package(context_, update);
  ASSERT_FALSE(updated);
  EXPECT_EQ(updated.error().text(),
            update.model.string() +
                ": an ONNX model, but the package was made from a SavedModel\n"
                "  export the retrained model in the format of the first one, or compile this one: "
                "tfaot compile");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
