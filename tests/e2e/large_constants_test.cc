// SPDX-License-Identifier: Apache-2.0
// Large constants of a SavedModel's functions, with the real engine: weights, as variables are.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LargeConstantsTest : public ToolTest {
 protected:
  nlohmann::json manifest_of(const std::string& package) const {
    return nlohmann::json::parse(done({"info", package, "--json"}), nullptr, false)["manifest"];
  }
};

// A matrix in the function, one in a loop, a vector in each branch, one of 16 bits, and places.
TEST_F(LargeConstantsTest, AreStoredOnce) {
  constexpr int kArrays = 4 * (6 * 16 + 16 * 16 + 16 + 16) + 2 * 16 * 4;
  constexpr int kPlaces = 256 * 16 * 8;
  done({"compile", "-c", config("captured_arrays"), "-o", "out", "-q"});
  const nlohmann::json manifest = manifest_of("out");
  EXPECT_GE(manifest["weights"]["size"].get<int>(), kArrays + kPlaces);
  int objects = 0;
  for (const auto& file : manifest["files"]) {
    const std::string path = file["path"];
    if (!path.ends_with(".o") || path.ends_with("_weights.o")) continue;
    EXPECT_LT(file["size"].get<int>(), kPlaces) << path;
    ++objects;
  }
  EXPECT_GT(objects, 0);
}

TEST_F(LargeConstantsTest, AreListed) {
  EXPECT_THAT(done({"info", model("captured_arrays") + "/saved_model"}),
              AllOf(HasSubstr("[6, 16]"), HasSubstr("[256, 16]"), HasSubstr("float16"),
                    Not(HasSubstr("[4, 3]")), Not(HasSubstr("XlaCustomCall"))));
}

// What compiling the other model gives.
TEST_F(LargeConstantsTest, AreUpdated) {
  const auto config_of = [](const std::string& name) {
    return "model:\n  name: net\n  version: \"1\"\n  saved_model: " + model(name) +
           "/saved_model\ncompilation:\n  batch_sizes: [1, 4]\n";
  };
  for (const std::string name : {"captured_arrays", "captured_retrained"}) {
    ASSERT_TRUE(files_.replace_atomically(root_ / (name + ".yaml"), config_of(name)));
    done({"compile", "-c", name + ".yaml", "-o", name, "-q"});
  }
  done({"update-weights", "captured_arrays", "--model",
        model("captured_retrained") + "/saved_model", "--version", "1", "-q"});
  EXPECT_EQ(read("captured_arrays/manifest.json"), read("captured_retrained/manifest.json"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
