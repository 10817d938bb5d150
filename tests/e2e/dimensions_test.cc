// SPDX-License-Identifier: Apache-2.0
// Free dimensions with the real engine: the verbs that make, describe and run such a package.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tfaot/base/text.h"
#include "tfaot/runtime/models.h"
#include "tfaot/workflow/array_files.h"
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

// Arrays as numpy.savez() writes them, and what the package makes of them.
TEST_F(DimensionsTest, RowsOfAFileHaveSizesOfTheirOwn) {
  compile();
  const auto floats = [](const std::string& name, std::int64_t rows, std::int64_t columns) {
    Array array = make_array({name, DType::kFloat32, {columns}}, rows);
    for (std::size_t i = 0; i < array.bytes.size() / 4; ++i) {
      set_number(array.bytes, i, static_cast<float>(i % 7) / 4);
    }
    return array;
  };
  const auto offsets = [](const std::string& name, const std::vector<std::int64_t>& numbers) {
    Array array{name, DType::kInt64, {static_cast<std::int64_t>(numbers.size())}, {}};
    array.bytes.resize(8 * numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) set_number(array.bytes, i, numbers[i]);
    return array;
  };
  const Array tracks = floats("tracks", 10, 3);
  ASSERT_TRUE(write_arrays(files_, root_ / "in.npz",
                           {offsets("n_tracks", {0, 2, 3, 10}), offsets("n_vertices", {0, 6, 7, 9}),
                            tracks, floats("vertices", 9, 2)}));
  const json ran =
      json::parse(done({"run", "out", "--inputs", "in.npz", "-o", "out.npz", "--json"}));
  EXPECT_EQ(ran["ragged"], true);
  EXPECT_EQ(ran["rows"], 3);
  const TensorSpec each{"each", DType::kFloat32, {2}}, jet{"jet", DType::kFloat32, {4}};
  const TensorSpec starts{"n_tracks", DType::kInt64, {}};
  const auto outputs = read_outputs(files_, root_ / "out.npz", {each, jet, starts});
  ASSERT_TRUE(outputs) << outputs.error().text();
  const auto named = [&](const char* name) {
    return *std::ranges::find(*outputs, name, &Array::name);
  };
  EXPECT_EQ(named("each").shape, (std::vector<std::int64_t>{10, 2}));
  EXPECT_EQ(named("jet").shape, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(named("n_tracks").shape, (std::vector<std::int64_t>{4}));
  for (std::size_t i = 0; i < 10; ++i) {
    std::array<float, 3> track{};
    for (std::size_t j = 0; j < 3; ++j) track[j] = number_at<float>(tracks.bytes, 3 * i + j);
    EXPECT_NEAR(number_at<float>(named("each").bytes, 2 * i), each_of(track), 1e-5F) << i;
  }
  EXPECT_THAT(done({"run", "out", "--inputs", "in.npz"}),
              HasSubstr("... rows of 'each' have different sizes; '-o FILE.npz' writes them"));
  EXPECT_THAT(error_of({"run", "out", "--inputs", "in.npz", "-o", "out.csv"}),
              HasSubstr("output 'each' has rows of different sizes, which a .csv cannot hold"));
  EXPECT_THAT(
      error_of({"run", "out", "--inputs", "in.npz", "--dimension", "n_tracks=3"}),
      HasSubstr("the offsets 'n_tracks' give row 0 the size 2, but the code is for 3 to 3"));
}

TEST_F(DimensionsTest, TimesAreOfChosenSizes) {
  compile();
  const auto profile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"profile", "out",        "--batch-sizes", "4",     "--rounds",
                                      "1",       "--round-ms", "0.1",           "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(done(words))["curves"][0];
  };
  const json one = profile({"--dimension", "n_tracks=1", "--dimension", "n_vertices=2"});
  EXPECT_EQ(one["dimensions"][0], json({{"name", "n_tracks"}, {"size", 1}}));
  EXPECT_EQ(one["dimensions"][1], json({{"name", "n_vertices"}, {"size", 2}}));
  EXPECT_EQ(profile({})["dimensions"][0], json({{"name", "n_tracks"}, {"size", 40}}));
  EXPECT_THAT(error_of({"profile", "out", "--dimension", "n_tracks=41"}),
              HasSubstr("--dimension n_tracks=41: the size must be 1 to 40"));
  EXPECT_THAT(done({"tune", "out", "--budget", "0.1"}), HasSubstr("at n_tracks=40, n_vertices=6"));
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
        model->run(3, {{"n_tracks", n}, {"n_vertices", 2}},
                   {{"tracks", tracks}, {"vertices", vertices}}, {{"each", each}, {"jet", jet}});
    ASSERT_TRUE(ran) << ran.error().text;
    for (std::size_t i = 0; i < each.size(); i += 2)
      EXPECT_NEAR(each[i], each_of({1, 1, 1}), 1e-5F);
  }
  const std::vector<std::size_t> n_tracks = {0, 2, 42}, n_vertices = {0, 1, 3};
  const std::vector<float> tracks(3 * 42, 1), vertices(2 * 3, 1);
  std::vector<float> each(2 * 42), jet(2 * 4);
  const auto ran = model->run_ragged(2, {{"n_tracks", n_tracks}, {"n_vertices", n_vertices}},
                                     {{"tracks", tracks}, {"vertices", vertices}},
                                     {{"each", each}, {"jet", jet}});
  ASSERT_TRUE(ran) << ran.error().text;
  for (std::size_t i = 0; i < each.size(); i += 2) EXPECT_NEAR(each[i], each_of({1, 1, 1}), 1e-5F);
}

// A row is the sums of 0.5, 1.5, 2.5, ... per track, of which the model takes the five largest.
TEST_F(DimensionsTest, AModelMayComputeOtherwiseAtSomeSizes) {
  done({"compile", TFAOT_ONNX_MODELS "/leading/model.onnx", "-o", "out", "--model-name", "leading",
        "--batch-sizes", "1,4", "--dimension", "n_tracks=0..12", "-q"});
  EXPECT_THAT(done({"info", "out"}), HasSubstr("min(n_tracks, 5)]"));
  done({"link", "out", "-o", "libmodels.so"});
  auto model = ::tfaot::Models((root_ / "libmodels.so").string()).load("leading");
  ASSERT_TRUE(model) << model.error().text;
  constexpr std::size_t kRows = 3;
  for (const std::size_t n : {12U, 0U, 1U, 4U, 5U, 6U, 0U, 11U}) {
    const std::size_t k = std::min<std::size_t>(n, 5);
    std::vector<float> tracks, wanted, sums;
    for (std::size_t row = 0; row < kRows; ++row) {
      float sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const float half = 0.5F + static_cast<float>((i + row) % n);
        tracks.insert(tracks.end(), {half, 1, -1});
      }
      for (std::size_t i = 0; i < k; ++i) {
        wanted.push_back(static_cast<float>(n - i) - 0.5F);
        sum += wanted.back();
      }
      sums.push_back(sum);
    }
    std::vector<float> leading(kRows * k, NAN), all(kRows, NAN);
    const auto ran = model->run(kRows, {{"n_tracks", n}}, {{"tracks", tracks}},
                                {{"leading", leading}, {"all", all}});
    ASSERT_TRUE(ran) << ran.error().text;
    EXPECT_EQ(leading, wanted) << n;
    EXPECT_EQ(all, sums) << n;
  }
}

// Numbers that follow the sizes lie in memory before the tensors. XLA's own places would cut each
// vector of a tensor in two lines.
TEST_F(DimensionsTest, TensorsBeginWithALineOfTheCaches) {
  ASSERT_TRUE(files_.replace_atomically(
      root_ / "events.yaml",
      "model: {name: events, version: '1', format: onnx, onnx: " TFAOT_ONNX_MODELS
      "/events/model.onnx}\n"
      "compilation: {batch_sizes: [1], dimensions: {n_tracks: 1..40, n_vertices: 1..6}}\n"));
  done({"inspect", "-q", "events.yaml", "--dump", "kept"});
  int offsets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root_ / "kept")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("-buffer-assignment.txt")) continue;
    constexpr std::string_view kBefore = ",offset=";
    const std::string text = read("kept/" + name);
    for (std::size_t at = text.find(kBefore); at != std::string::npos;
         at = text.find(kBefore, at + 1)) {
      EXPECT_EQ(std::stoll(text.substr(at + kBefore.size())) % 64, 0) << text.substr(at, 20);
      ++offsets;
    }
  }
  EXPECT_GT(offsets, 20);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
