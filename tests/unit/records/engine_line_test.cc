// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_line.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

TEST(EngineLine, IsOneObjectALine) {
  EXPECT_EQ(engine_line_to_json({EngineWord::kProgress, "batch size 4"}),
            "{\"progress\":\"batch size 4\"}\n");
  EXPECT_EQ(engine_line_to_json({.word = EngineWord::kError,
                                 .text = "no such node",
                                 .notes = {"there are a, b"},
                                 .file = "",
                                 .config_key = "model.outputs[0]",
                                 .line = 3}),
            "{\"error\":\"no such node\",\"file\":\"\",\"key\":\"model.outputs[0]\",\"line\":3,"
            "\"notes\":[\"there are a, b\"]}\n");
}

TEST(EngineLine, ComesBackAsItWas) {
  for (const EngineWord word :
       {EngineWord::kProgress, EngineWord::kNote, EngineWord::kWarning, EngineWord::kError}) {
    const auto line = engine_line_from_json(engine_line_to_json({word, "a\nb"}));
    ASSERT_TRUE(line);
    EXPECT_EQ(line->word, word);
    EXPECT_EQ(line->text, "a\nb");
  }
  const auto error = engine_line_from_json(R"({"error": "e", "notes": ["n"], "line": 7})");
  ASSERT_TRUE(error);
  EXPECT_THAT(error->notes, ElementsAre("n"));
  EXPECT_EQ(error->line, 7);
  EXPECT_EQ(error->file, "");
}

// Libraries may print anything.
TEST(EngineLine, AnythingElseIsNone) {
  for (const char* text : {"", "7", "[]", "{}", "progress", R"({"progress": 4})",
                           R"({"error": {}})", R"({"error": "e", "notes": "n"})"}) {
    EXPECT_FALSE(engine_line_from_json(text)) << text;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
