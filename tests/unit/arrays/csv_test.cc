// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/csv.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorSpec kScalar = {"n", DType::kInt64, {}};
const TensorSpec kPair = {"x", DType::kFloat32, {2}};
const TensorSpec kFlag = {"flag", DType::kBool, {}};

std::string csv_error(const std::string& text, const std::vector<TensorSpec>& tensors) {
  const auto arrays = csv_from_text(text, tensors, "in.csv");
  return arrays ? "" : arrays.error().text();
}

TEST(Csv, NamesColumns) {
  EXPECT_THAT(column_names(kScalar), ElementsAre("n"));
  EXPECT_THAT(column_names({"x", DType::kFloat32, {2, 2}}),
              ElementsAre("x[0][0]", "x[0][1]", "x[1][0]", "x[1][1]"));
  EXPECT_THAT(column_names({"x", DType::kFloat32, {0}}), ElementsAre());
}

TEST(Csv, ReadsColumnsInAnyOrder) {
  const auto arrays = csv_from_text(
      "\xEF\xBB\xBFx[1],label , n,flag,x[0]\r\n1.5,a b, -3 ,true,+2\r\n2e-50,,9,0,nan\r\n",
      {kScalar, kPair, kFlag}, "in.csv");
  ASSERT_TRUE(arrays) << arrays.error().text();
  EXPECT_THAT(testing::values_of<std::int64_t>((*arrays)[0]), ElementsAre(-3, 9));
  const auto x = testing::values_of<float>((*arrays)[1]);
  EXPECT_EQ(x[0], 2.0F);
  EXPECT_EQ(x[1], 1.5F);
  EXPECT_TRUE(std::isnan(x[2]));
  EXPECT_EQ(x[3], 0.0F);  // too small for a float
  EXPECT_THAT((*arrays)[1].shape, ElementsAre(2, 2));
  EXPECT_EQ((*arrays)[2].bytes, std::string("\x01\0", 2));
}

// "x" is what people write for one number; "x[0]" is what we write.
TEST(Csv, NamesOneElementEitherWay) {
  const TensorSpec one = {"x", DType::kFloat32, {1, 1}};
  EXPECT_EQ(csv_error("x\n1\n", {one}), "");
  EXPECT_EQ(csv_error("x[0][0]\n1\n", {one}), "");
  const auto both = csv_from_text("x,x[0][0]\n1,2\n", {one}, "in.csv");
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_THAT(testing::values_of<float>(both->front()), ElementsAre(2.0F));
  EXPECT_THAT(both->front().shape, ElementsAre(1, 1, 1));
  EXPECT_THAT(csv_error("x\n1\n", {kPair}), HasSubstr("there is no column 'x[0]'"));
}

TEST(Csv, ReadsWhatItWrites) {
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<Array> arrays = {
      testing::array_of<float>("x", DType::kFloat32, {2, 2}, {0.1F, -infinite, 1e30F, 3.0F}),
      testing::array_of<double>("d", DType::kFloat64, {2}, {0.1, 1.0 / 3}),
      testing::array_of<std::int32_t>("i", DType::kInt32, {2, 1}, {-5, 6}),
      testing::array_of<char>("flag", DType::kBool, {2}, {1, 0})};
  const auto text = csv_to_text(arrays);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "x[0],x[1],d,i[0],flag\n0.1,-inf,0.1,-5,1\n1e+30,3,0.3333333333333333,6,0\n");
  const auto read = csv_from_text(*text, tensors_of(arrays), "in.csv");
  ASSERT_TRUE(read) << read.error().text();
  for (std::size_t i = 0; i < arrays.size(); ++i) EXPECT_EQ((*read)[i].bytes, arrays[i].bytes);
}

TEST(Csv, ReadsAndWritesNumbersOfFewBits) {
  const auto half = [](double number) { return ::tfaot::float16(number); };
  const auto brain = [](double number) { return ::tfaot::bfloat16(number); };
  const std::vector<Array> arrays = {
      testing::array_of<::tfaot::float16>("h", DType::kFloat16, {3},
                                          {half(0.1), half(65504), half(-0x1p-24)}),
      testing::array_of<::tfaot::bfloat16>("b", DType::kBfloat16, {3},
                                           {brain(0.1), brain(1e38), brain(-100)}),
      testing::array_of<std::int8_t>("i", DType::kInt8, {3}, {-128, 65, 127}),
      testing::array_of<std::uint8_t>("u", DType::kUint8, {3}, {0, 65, 255}),
      testing::array_of<std::uint64_t>("l", DType::kUint64, {3},
                                       {0, 1, std::numeric_limits<std::uint64_t>::max()})};
  const auto text = csv_to_text(arrays);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "h,b,i,u,l\n0.1,0.1,-128,0,0\n65500,1e+38,65,65,1\n"
            "-6e-08,-100,127,255,18446744073709551615\n");
  const auto read = csv_from_text(*text, tensors_of(arrays), "in.csv");
  ASSERT_TRUE(read) << read.error().text();
  for (std::size_t i = 0; i < arrays.size(); ++i) EXPECT_EQ((*read)[i].bytes, arrays[i].bytes);
}

// Every number of 16 bits has a text that reads as the same.
TEST(Csv, LosesNoNumberOfSixteenBits) {
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16}) {
    std::vector<std::uint16_t> all;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto number = static_cast<std::uint16_t>(bits);
      const float value = dtype == DType::kFloat16 ? float{::tfaot::float16::from_bits(number)}
                                                   : float{::tfaot::bfloat16::from_bits(number)};
      if (!std::isnan(value)) all.push_back(number);
    }
    const auto rows = static_cast<std::int64_t>(all.size());
    const Array array = testing::array_of<std::uint16_t>("x", dtype, {rows}, all);
    const auto read = csv_from_text(*csv_to_text({array}), tensors_of({array}), "in.csv");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->front().bytes, array.bytes);
  }
}

TEST(Csv, MayHaveNoRows) {
  const auto read = csv_from_text("n\n", {kScalar}, "in.csv");
  ASSERT_TRUE(read);
  EXPECT_THAT((*read)[0].shape, ElementsAre(0));
  EXPECT_EQ(*csv_to_text(*read), "n\n");
}

TEST(Csv, SaysWhatIsWrong) {
  EXPECT_EQ(csv_error("a,b\n1,2\n", {kPair}),
            "in.csv:1: there is no column 'x[0]'\n"
            "  columns: a, b\n"
            "  the first line names the columns: the input's name, or name[0], name[1], ... if a "
            "row of it has several numbers");
  EXPECT_EQ(csv_error("n,n\n", {kScalar}), "in.csv:1: two columns 'n'");
  EXPECT_EQ(csv_error("n,m\n1,2\n3\n", {kScalar}), "in.csv:3: 1 cells, but 2 columns");
  EXPECT_EQ(csv_error("n\n1\n1.5\n", {kScalar}),
            "in.csv:3: '1.5', for input 'n', is not a number of the type int64");
  EXPECT_THAT(csv_error("n\n\n1\n", {kScalar}), HasSubstr("in.csv:2: ''"));
  EXPECT_THAT(csv_error("n\n99999999999999999999\n", {kScalar}), HasSubstr("int64"));
  EXPECT_THAT(csv_error("flag\n2\n", {kFlag}), HasSubstr("bool"));
  EXPECT_THAT(csv_error("u\n256\n", {{"u", DType::kUint8, {}}}), HasSubstr("'256'"));
  EXPECT_THAT(csv_error("u\n-1\n", {{"u", DType::kUint64, {}}}), HasSubstr("'-1'"));
  EXPECT_THAT(csv_error("h\n65520\n", {{"h", DType::kFloat16, {}}}), HasSubstr("'65520'"));
  EXPECT_THAT(csv_error("x[0],x[1]\n1e39,0\n", {kPair}), HasSubstr("'1e39'"));
  EXPECT_THAT(csv_error("", {kScalar}), HasSubstr("no column 'n'"));
  const auto text = csv_to_text({testing::array_of<float>("a,b", DType::kFloat32, {0}, {})});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().text(), "the name 'a,b' cannot be that of a column\n  write a .npz");
}

}  // namespace
}  // namespace tfaot::toolkit
