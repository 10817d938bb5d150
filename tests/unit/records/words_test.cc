// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/words.h"

#include <gmock/gmock.h>

#include <set>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

template <class Enum>
class WordsOf : public ::testing::Test {};
using Enums = ::testing::Types<DType, BufferKind, ModelFormat, WeightsMode, HeadersMode, RowsMode,
                               OpsetMode, EngineWord>;
TYPED_TEST_SUITE(WordsOf, Enums);

// A row for each enumerator, in their order, without gaps.
TYPED_TEST(WordsOf, FollowTheEnum) {
  std::set<std::string> words;
  int position = 0;
  for (const auto& row : kWords<TypeParam>) {
    EXPECT_EQ(static_cast<int>(row.value), position++);
    EXPECT_TRUE(words.insert(row.word).second) << row.word;
    EXPECT_STREQ(word_of(row.value), row.word);
    EXPECT_EQ(parse_word<TypeParam>(row.word), row.value);
  }
  EXPECT_EQ(parse_word<TypeParam>(""), std::nullopt);
}

TEST(Words, AreListedForMessages) {
  EXPECT_THAT(words_of<RowsMode>(), ElementsAre("alone", "coupled"));
  EXPECT_EQ(quoted_words<RowsMode>(), "'alone' or 'coupled'");
  EXPECT_EQ(quoted_words<EngineWord>(), "'progress', 'note', 'warning' or 'error'");
}

TEST(DTypes, HaveASizeAndACppType) {
  EXPECT_EQ(size_of(DType::kFloat64), 8u);
  EXPECT_EQ(cpp_type_name(DType::kBool), "bool");
  EXPECT_EQ(cpp_type_name(DType::kInt64), "std::int64_t");
  EXPECT_EQ(cpp_type_name(DType::kUint8), "std::uint8_t");
  EXPECT_EQ(cpp_type_name(DType::kBfloat16), "tfaot::bfloat16");
  EXPECT_EQ(cpp_type_name(DType::kFloat32), "float");
  EXPECT_EQ(parse_word<DType>("float16"), DType::kFloat16);
  EXPECT_EQ(parse_word<DType>("complex64"), std::nullopt);
}

TEST(DTypes, OnesThatKeepAllNumbersOfAnother) {
  EXPECT_TRUE((kKeepsNumbers<std::uint8_t, std::int16_t>));
  EXPECT_TRUE((kKeepsNumbers<std::uint32_t, std::uint64_t>));
  EXPECT_FALSE((kKeepsNumbers<std::int8_t, std::uint16_t>));
  EXPECT_FALSE((kKeepsNumbers<std::uint8_t, std::int8_t>));
  EXPECT_FALSE((kKeepsNumbers<std::int32_t, double>));
  EXPECT_TRUE((kKeepsNumbers<::tfaot::float16, float>));
  EXPECT_TRUE((kKeepsNumbers<::tfaot::bfloat16, double>));
  EXPECT_FALSE((kKeepsNumbers<::tfaot::float16, ::tfaot::bfloat16>));
  EXPECT_FALSE((kKeepsNumbers<::tfaot::bfloat16, ::tfaot::float16>));
  EXPECT_FALSE((kKeepsNumbers<bool, std::int32_t>));
  EXPECT_FALSE((kKeepsNumbers<std::int32_t, bool>));
  EXPECT_TRUE(is_real(DType::kBfloat16));
  EXPECT_FALSE(is_real(DType::kUint64));
}

}  // namespace
}  // namespace tfaot::toolkit
