// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/config_keys.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/config/config_fixture.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_below(const std::string& map) {
  std::vector<std::string> names;
  for (const ConfigKey* key : children_of(map)) names.push_back(key_name(*key));
  return names;
}

TEST(ConfigKeys, TreeFollowsThePaths) {
  EXPECT_THAT(names_below(""), ElementsAre("model", "compilation", "$schema"));
  EXPECT_THAT(names_below("model.inputs[]"), ElementsAre("name", "shape", "dtype"));
  EXPECT_THAT(names_below("model"),
              ElementsAre("name", "version", "record_version", "format", "saved_model",
                          "serving_key", "frozen_graph", "onnx", "stablehlo", "dimensions",
                          "constants", "opset", "inputs", "outputs", "author", "description"));
}

TEST(ConfigKeys, PathsAreUniqueAndDocumented) {
  std::set<std::string> paths;
  for (const ConfigKey& key : config_keys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    EXPECT_TRUE(key.doc.ends_with(".")) << key.path;
    EXPECT_EQ(key.text.pattern.empty() || !key.text.meaning.empty(), true) << key.path;
  }
}

// The defaults of the records are those of the table.
TEST(ConfigKeys, DefaultsAreThoseOfTheRecords) {
  const auto spec =
      testing::load_text("model: {name: n, version: v}\ncompilation: {batch_sizes: [1]}\n");
  ASSERT_TRUE(spec) << testing::error_of(spec);
  const ModelSection model;
  EXPECT_EQ(spec->model.format, model.format);
  EXPECT_EQ(spec->model.serving_key, model.serving_key);
  EXPECT_EQ(spec->model.author, model.author);
  EXPECT_EQ(spec->model.description, model.description);
  const CompilationSection compilation;
  EXPECT_EQ(spec->compilation.namespace_name, compilation.namespace_name);
  EXPECT_EQ(spec->compilation.target_triple, compilation.target_triple);
  EXPECT_EQ(spec->compilation.weights, compilation.weights);
  EXPECT_EQ(spec->compilation.batch, compilation.batch);
}

}  // namespace
}  // namespace tfaot::toolkit
