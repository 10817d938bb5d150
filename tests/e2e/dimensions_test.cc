// SPDX-License-Identifier: Apache-2.0
// Free dimensions with the real engine: the verbs that make, describe and run such a package.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tfaot/base/text.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

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

// each = tanh(tracks W) U, in the first row.
TEST_F(DimensionsTest, InputsThatAreMadeHaveTheirSizes) {
  compile();
  const json made = json::parse(done({"run", "out", "--inputs", "incremental", "--rows", "3",
                                      "--dimension", "n_tracks=2", "-o", "out.csv", "--json"}));
  EXPECT_EQ(made["sizes"], json({{"n_tracks", 2}, {"n_vertices", 6}}));
  EXPECT_EQ(made["outputs"][0]["shape"], json({3, 2, 2}));
  const std::vector<std::string> lines = split_lines(read("out.csv"));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].substr(0, 43), "each[0][0],each[0][1],each[1][0],each[1][1]");
  constexpr float kW[3][4] = {{0.5, -1, 2, 0.125}, {1, 0.25, -0.5, 0.75}, {-0.25, 0.5, 1.5, -1}};
  constexpr std::array<float, 4> kU = {1, 0.25, -1, 0.75};
  float expected = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    expected += std::tanh(kW[1][j] + 2 * kW[2][j]) * kU[j];
  }
  EXPECT_NEAR(std::stof(lines[1]), expected, 1e-5F);
}

TEST_F(DimensionsTest, AFileHasItsOwnSizes) {
  compile();
  // What a run at 5 tracks wrote, read again as the inputs of another model would be: as shapes.
  const std::string csv = done({"run", "out", "--inputs", "random", "-o", "all.npz", "--json"});
  EXPECT_EQ(json::parse(csv)["outputs"][0]["shape"], json({1, 40, 2}));
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
  EXPECT_TRUE(std::filesystem::exists(root_ / "libmodels.so"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
