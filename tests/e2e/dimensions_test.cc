// SPDX-License-Identifier: Apache-2.0
// Free dimensions with the real engine: the verbs that make, describe and run such a package.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tfaot/base/text.h"
#include "tfaot/runtime/models.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The first number of each = tanh(track W) U.
float each_of(const std::array<float, 3>& track) {
  constexpr float kW[3][4] = {{0.5, -1, 2, 0.125}, {1, 0.25, -0.5, 0.75}, {-0.25, 0.5, 1.5, -1}};
  constexpr std::array<float, 4> kU = {1, 0.25, -1, 0.75};
  float sum = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    sum += std::tanh(track[0] * kW[0][j] + track[1] * kW[1][j] + track[2] * kW[2][j]) * kU[j];
  }
  return sum;
}

class DimensionsTest : public ToolTest {
 protected:
  void compile() const {
    done({"compile", TFAOT_ONNX_MODELS "/events/model.onnx", "-o", "out", "--model-name", "events",
          "--batch-sizes", "1,4", "--dimension", "n_tracks=1..40", "--dimension", "n_vertices=1..6",
          "-q"});
  }
  std::string error_of(const std::vector<std::string>& arguments) const {
    const ProcessResult result = tool(arguments);
    EXPECT_FALSE(result.ok()) << result.standard_output;
    return result.standard_error;
  }
};

TEST_F(DimensionsTest, AreShownByName) {
  const std::string said =
      done({"compile", TFAOT_ONNX_MODELS "/events/model.onnx", "-o", "out", "--dimension",
            "n_tracks=1..40", "--dimension", "n_vertices=1..6"});
  EXPECT_THAT(said, AllOf(HasSubstr("n_tracks=1..40, n_vertices=1..6"),
                          HasSubstr("tracks float32 [batch, n_tracks, 3]")));
  EXPECT_THAT(done({"info", "out"}),
              AllOf(HasSubstr("  dimensions   n_tracks=1..40, n_vertices=1..6\n"),
                    HasSubstr("[batch, n_vertices, 2]"), HasSubstr("[batch, 4]")));
  const json info = json::parse(done({"info", "out", "--json"}));
  EXPECT_EQ(info["dimensions"]["n_tracks"], "1..40");
  EXPECT_EQ(info["shapes"]["outputs"]["each"], "[batch, n_tracks, 2]");
}

TEST_F(DimensionsTest, InputsThatAreMadeHaveTheirSizes) {
  compile();
  const json made = json::parse(done({"run", "out", "--inputs", "incremental", "--rows", "3",
                                      "--dimension", "n_tracks=2", "-o", "out.csv", "--json"}));
  EXPECT_EQ(made["sizes"], json({{"n_tracks", 2}, {"n_vertices", 6}}));
  EXPECT_EQ(made["outputs"][0]["shape"], json({3, 2, 2}));
  const std::vector<std::string> lines = split_lines(read("out.csv"));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].substr(0, 43), "each[0][0],each[0][1],each[1][0],each[1][1]");
  EXPECT_NEAR(std::stof(lines[1]), each_of({0, 1, 2}), 1e-5F);
}

TEST_F(DimensionsTest, OfATableAreChosen) {
  compile();
  const json largest = json::parse(done({"run", "out", "--inputs", "random", "--json"}));
  EXPECT_EQ(largest["outputs"][0]["shape"], json({1, 40, 2}));
  EXPECT_THAT(error_of({"run", "out", "--inputs", "random", "--dimension", "n_tracks=41"}),
              HasSubstr("--dimension n_tracks=41: the size must be 1 to 40"));
  EXPECT_THAT(error_of({"run", "out", "--inputs", "random", "--dimension", "n_track=4"}),
              AllOf(HasSubstr("the model has no free dimension 'n_track'"),
                    HasSubstr("free dimensions: n_tracks, n_vertices")));
  const std::string columns =
      "tracks[0][0],tracks[0][1],tracks[0][2],vertices[0][0],vertices[0][1]";
  ASSERT_TRUE(files_.replace_atomically(root_ / "in.csv", columns + "\n1,2,3,4,5\n"));
  const json ran = json::parse(done({"run", "out", "--inputs", "in.csv", "--dimension",
                                     "n_tracks=1", "--dimension", "n_vertices=1", "--json"}));
  EXPECT_EQ(ran["outputs"][0]["shape"], json({1, 1, 2}));
}

TEST_F(DimensionsTest, ALibraryOfModelsHasThem) {
  compile();
  done({"link", "out", "-o", "libmodels.so"});
  auto model = ::tfaot::Models((root_ / "libmodels.so").string()).load("events");
  ASSERT_TRUE(model) << model.error().text;
  ASSERT_EQ(model->dimensions().size(), 2U);
  EXPECT_STREQ(model->dimensions()[1].name, "n_vertices");
  EXPECT_EQ(model->dimensions()[1].largest, 6);
  for (const std::size_t n : {2U, 40U, 7U}) {
    const std::vector<float> tracks(3 * 3 * n, 1), vertices(3 * 2 * 2, 1);
    std::vector<float> each(3 * n * 2), jet(3 * 4);
    const auto ran =
        model->run(3, {{"n_tracks", static_cast<std::int64_t>(n)}, {"n_vertices", 2}},
                   {{"tracks", tracks}, {"vertices", vertices}}, {{"each", each}, {"jet", jet}});
    ASSERT_TRUE(ran) << ran.error().text;
    for (std::size_t i = 0; i < each.size(); i += 2)
      EXPECT_NEAR(each[i], each_of({1, 1, 1}), 1e-5F);
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
