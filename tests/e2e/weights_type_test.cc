// SPDX-License-Identifier: Apache-2.0
// Weights in fewer bits, and in one layout, with the real engine: compilation.weights_type and
// compilation.optimize.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class WeightsTypeTest : public ToolTest {
 protected:
  // A dense layer of 128 x 128, at two sizes: one that reads narrow weights, and one that widens.
  json compiled(const std::string& type) {
    done({"compile", "-c", config("many_weights"), "-o", type, "--batch-sizes", "1,4",
          "--weights-type", type, "-q"});
    return json::parse(read(type + "/manifest.json"));
  }
  bool validates(const std::string& type, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"validate", type, "--model", config("many_weights"),
                                          "-q"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProcessResult result = tool(arguments);
    EXPECT_LE(result.exit_code, 1) << result.standard_error;
    return result.ok();
  }
};

TEST_F(WeightsTypeTest, ThePackageIsSmallerAndPredictsNearlyTheSame) {
  constexpr std::size_t kWeights = 128 * 128;
  EXPECT_GE(compiled("float32")["weights"]["size"].get<std::size_t>(), 4 * kWeights);
  EXPECT_TRUE(validates("float32"));
  for (const auto& [type, bytes] : {std::pair{"bfloat16", 2}, {"float16", 2}, {"int8", 1}}) {
    SCOPED_TRACE(type);
    const json weights = compiled(type)["weights"];
    EXPECT_EQ(weights["type"], type);
    EXPECT_LT(weights["size"].get<std::size_t>(),
              static_cast<std::size_t>(bytes) * kWeights + 2048);
    EXPECT_TRUE(validates(type));
    EXPECT_FALSE(validates(type, {"--tolerance", "1e-5"}));
    EXPECT_THAT(done({"info", type}), HasSubstr(std::string("shared, products as ") + type));
  }
}

TEST_F(WeightsTypeTest, NewWeightsAreNarrowedAlike) {
  const json before = compiled("int8");
  done({"update-weights", "int8", "--model", model("many_weights") + "/saved_model", "-o", "new",
        "-q"});
  EXPECT_EQ(json::parse(read("new/manifest.json"))["weights"], before["weights"]);
}

TEST_F(WeightsTypeTest, ProductsOfBfloat16HaveWeightsOfBfloat16) {
  done({"compile", "-c", config("many_weights"), "-o", "rounded", "--batch-sizes", "1,4",
        "--compute", "bfloat16", "-q"});
  const json before = json::parse(read("rounded/manifest.json"));
  EXPECT_EQ(before["compute"], "bfloat16");
  EXPECT_LT(before["weights"]["size"].get<int>(), 2 * 128 * 128 + 2048);
  EXPECT_TRUE(validates("rounded"));
  EXPECT_FALSE(validates("rounded", {"--tolerance", "1e-5"}));
  EXPECT_THAT(done({"info", "rounded"}), HasSubstr("products and convolutions in bfloat16"));
  done({"update-weights", "rounded", "--model", model("many_weights") + "/saved_model", "-o", "new",
        "-q"});
  const json after = json::parse(read("new/manifest.json"));
  EXPECT_EQ(after["compute"], "bfloat16");
  EXPECT_EQ(after["weights"], before["weights"]);
  const ProcessResult refused = tool({"compile", "-c", config("many_weights"), "-o", "int8",
                                      "--compute", "bfloat16", "--weights-type", "int8", "-q"});
  EXPECT_THAT(refused.standard_error,
              HasSubstr("--weights-type: 'int8' cannot be used with 'compute: bfloat16'"));
}

// One row and eight read other layouts of an LSTM's weights where speed is the wish.
TEST_F(WeightsTypeTest, ForSizeAWeightHasOneLayout) {
  const auto compiled_for = [this](const std::string& wish) {
    done({"compile", "-c", config("recurrent_layers"), "-o", wish, "--batch-sizes", "1,8",
          "--optimize", wish, "-q"});
    return json::parse(read(wish + "/manifest.json"));
  };
  const json speed = compiled_for("speed"), size = compiled_for("size");
  EXPECT_FALSE(speed.contains("optimize"));
  EXPECT_EQ(size["optimize"], "size");
  EXPECT_EQ(size["weights"]["model_size"], speed["weights"]["model_size"]);
  EXPECT_LT(size["weights"]["size"].get<double>(), 0.8 * speed["weights"]["size"].get<double>());
  EXPECT_THAT(done({"info", "speed"}), HasSubstr("layouts for fast kernels take"));
  done({"validate", "size", "--model", config("recurrent_layers"), "-q"});
  done({"update-weights", "size", "--model", model("recurrent_layers") + "/saved_model", "-o",
        "new", "-q"});
  EXPECT_EQ(json::parse(read("new/manifest.json"))["weights"], size["weights"]);
}

TEST_F(WeightsTypeTest, TheyMayBeInsideTheCode) {
  done({"compile", "-c", config("many_weights"), "-o", "bfloat16", "--weights", "embedded",
        "--weights-type", "bfloat16", "--cpu-levels", "x86-64", "-q"});
  EXPECT_TRUE(validates("bfloat16"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
