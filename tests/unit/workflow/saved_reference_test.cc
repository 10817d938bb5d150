// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <gmock/gmock.h>

#include "tests/unit/arrays/array_samples.h"
#include "tests/unit/workflow/workflow_test.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/package/zip_file.h"

namespace tfaot::toolkit {
namespace {

class SavedReferenceTest : public testing::WorkflowTest {
 protected:
  // Two rows of outputs in a .npz, by these names, for a package with 'label' and 'probabilities'.
  Result<std::unique_ptr<Reference>> reference(const std::vector<std::string>& names) {
    std::vector<ZipEntry> entries;
    for (const std::string& name : names) {
      entries.push_back({name + ".npy", npy_to_bytes(testing::array_of<float>(name, DType::kFloat32,
                                                                              {2}, {1, 2}))});
    }
    EXPECT_TRUE(write_zip(files_, root_ / "y.npz", entries));
    Signature signature;
    signature.outputs = {{"label", DType::kFloat32, {}}, {"probabilities", DType::kFloat32, {}}};
    return saved_reference(files_, root_ / "y.npz", signature, 2);
  }
  std::string error(const std::vector<std::string>& names) {
    const auto made = reference(names);
    return made ? "" : made.error().text();
  }
};

TEST_F(SavedReferenceTest, EveryArrayIsAnOutput) {
  const std::string at_file = (root_ / "y.npz").string();
  EXPECT_EQ(error({"probabilities", "label"}), "");
  EXPECT_EQ(error({"label", "probabilites"}),
            at_file +
                ": no output 'probabilites' (did you mean 'probabilities'?)\n"
                "  outputs: label, probabilities");
  EXPECT_EQ(error({"label", "events"}),
            at_file + ": no output 'events'\n  outputs: label, probabilities");
}

TEST_F(SavedReferenceTest, WhatTheFileLacksHasNoElements) {
  const auto made = reference({"label"});
  ASSERT_TRUE(made) << made.error().text();
  const ModelInputs batch{2, {}};
  const auto answers = (*made)->predict({&batch});
  ASSERT_TRUE(answers);
  const std::vector<Array>& outputs = answers->answers.at(0).outputs;
  EXPECT_EQ(outputs.at(0).bytes.size(), 8U);
  EXPECT_EQ(outputs.at(1).bytes, "");
}

}  // namespace
}  // namespace tfaot::toolkit
