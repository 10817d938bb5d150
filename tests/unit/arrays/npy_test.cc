// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/npy.h"

#include <gmock/gmock.h>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of any version with this header.
std::string npy_file(const std::string& header, const std::string& elements, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 255U);
  }
  return file + header + elements;
}

std::string npy_error(const std::string& file) {
  const auto array = npy_from_bytes(file, "x.npy");
  return array ? "" : array.error().text();
}

constexpr const char* kOneFloat = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";

// What numpy.save() of numpy 1.24 wrote.
TEST(Npy, WritesWhatNumpyWrites) {
  const Array array = testing::array_of<std::int32_t>("", DType::kInt32, {1, 2}, {7, -1});
  const std::string header =
      "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }" + std::string(58, ' ') + "\n";
  ASSERT_EQ(header.size(), 118U);
  EXPECT_EQ(npy_to_bytes(array), npy_file(header, std::string("\x07\0\0\0\xff\xff\xff\xff", 8)));
}

TEST(Npy, ReadsWhatItWrites) {
  const std::vector<Array> arrays = {
      testing::array_of<char>("", DType::kBool, {3}, {1, 0, 1}),
      testing::array_of<std::int32_t>("", DType::kInt32, {2, 2}, {1, 2, 3, 4}),
      testing::array_of<std::int64_t>("", DType::kInt64, {1, 1, 1}, {-9}),
      testing::array_of<float>("", DType::kFloat32, {0, 3}, {}),
      testing::array_of<double>("", DType::kFloat64, {}, {0.5})};
  for (const Array& array : arrays) {
    const auto read = npy_from_bytes(npy_to_bytes(array), "x.npy");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->dtype, array.dtype);
    EXPECT_EQ(read->shape, array.shape);
    EXPECT_EQ(read->bytes, array.bytes);
    EXPECT_EQ(npy_to_bytes(array).size() % 64, array.bytes.size());
  }
}

// Only the start of a file is needed to refuse it.
TEST(Npy, AHeadIsCheckedBeforeTheElements) {
  const std::string start = npy_file(kOneFloat, "");
  const auto head = npy_head(start, start.size() + 4, "x.npy");
  ASSERT_TRUE(head) << head.error().text();
  EXPECT_EQ(head->dtype, DType::kFloat32);
  EXPECT_THAT(head->shape, ElementsAre(1));
  EXPECT_EQ(head->bytes, "");
  const auto huge = npy_head(start, 100'000'000'000, "x.npy");
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().text(),
              HasSubstr("bytes of elements follow its header, which says [1]"));
  EXPECT_FALSE(npy_head(std::string(kNpyHeadBytes, '\0'), 100'000'000'000, "x.npy"));
}

// What numpy.save() of numpy 2.0 wrote, bfloat16 with ml_dtypes 0.6.
TEST(Npy, HasAWordForEveryType) {
  const std::vector<std::pair<DType, std::string>> types = {
      {DType::kInt8, "|i1"},    {DType::kInt16, "<i2"},    {DType::kUint8, "|u1"},
      {DType::kUint16, "<u2"},  {DType::kUint32, "<u4"},   {DType::kUint64, "<u8"},
      {DType::kFloat16, "<f2"}, {DType::kBfloat16, "<V2"},
  };
  for (const auto& [dtype, word] : types) {
    const Array array{"", dtype, {1}, std::string(size_of(dtype), '\x3e')};
    const std::string file = npy_to_bytes(array);
    EXPECT_THAT(file, HasSubstr("{'descr': '" + word + "',"));
    const auto read = npy_from_bytes(file, "x.npy");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->dtype, dtype);
    EXPECT_EQ(read->bytes, array.bytes);
  }
  // numpy without ml_dtypes has read and written it.
  const auto read = npy_from_bytes(
      npy_file("{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }\n", "\x80\x3f"), "x.npy");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->dtype, DType::kBfloat16);
  EXPECT_EQ(testing::values_of<::tfaot::bfloat16>(*read).front(), 1.0F);
}

TEST(Npy, ReadsAllVersionsAndSpellings) {
  const std::string one("\0\0\x80\x3f", 4);
  for (const char version : {'\x01', '\x02', '\x03'}) {
    for (const char* const header :
         {kOneFloat, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
          "{\"shape\":(1,),\"fortran_order\":True,\"descr\":\"<f4\",}  "}) {
      const auto read = npy_from_bytes(npy_file(header, one, version), "x.npy");
      ASSERT_TRUE(read) << read.error().text();
      EXPECT_THAT(testing::values_of<float>(*read), ElementsAre(1.0F));
    }
  }
}

TEST(Npy, ReadsFortranOrder) {
  // [[0, 1, 2], [3, 4, 5]] and a third dimension of two: 10 more.
  const Array columns = testing::array_of<std::int32_t>("", DType::kInt32, {12},
                                                        {0, 3, 1, 4, 2, 5, 10, 13, 11, 14, 12, 15});
  const auto read = npy_from_bytes(
      npy_file("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 2), }\n", columns.bytes),
      "x.npy");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(testing::values_of<std::int32_t>(*read),
              ElementsAre(0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15));
  EXPECT_THAT(read->shape, ElementsAre(2, 3, 2));
}

TEST(Npy, RefusesOtherElements) {
  for (const char* const type :
       {"'>f2'", "'>f4'", "'<V4'", "'|O'", "'<U5'", "'<c8'", "[('a', '<f4'), ('b', '<i4')]"}) {
    const std::string header =
        std::string("{'descr': ") + type + ", 'fortran_order': False, 'shape': (1,), }\n";
    EXPECT_THAT(npy_error(npy_file(header, "0000")), HasSubstr("elements of the type")) << type;
  }
  EXPECT_EQ(
      npy_error(npy_file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "0000")),
      "x.npy: elements of the type '>f4'\n"
      "  models take bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, "
      "bfloat16, float32, float64, little-endian\n"
      "  convert the array to the type that the model takes: a.astype(...)");
  EXPECT_THAT(
      npy_error(npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\x02")),
      HasSubstr("a bool is neither 0 nor 1"));
}

TEST(Npy, RefusesDamagedHeaders) {
  const char* const kDamaged = "its header is damaged";
  for (const char* const header :
       {"", "{}", "{'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} tail",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "{'descr'"}) {
    EXPECT_THAT(npy_error(npy_file(header, "0000")), HasSubstr(kDamaged)) << header;
  }
  std::string many = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 200; ++i) many += "1, ";
  EXPECT_THAT(npy_error(npy_file(many + ")}", "0000")), HasSubstr(kDamaged));
}

TEST(Npy, RefusesSizesThatItsBytesDoNotHave) {
  EXPECT_EQ(npy_error(npy_file(kOneFloat, "000")),
            "x.npy: not a .npy file that can be read: 3 bytes of elements follow its header, which "
            "says [1] of float32");
  EXPECT_THAT(npy_error(npy_file(kOneFloat, "00000")), HasSubstr("5 bytes of elements"));
  EXPECT_THAT(npy_error(npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, "
                                 "4294967296)}",
                                 "")),
              HasSubstr("0 bytes of elements"));
  EXPECT_THAT(npy_error("PK\x03\x04 something else"), HasSubstr("numpy's mark"));
  EXPECT_THAT(npy_error(""), HasSubstr("numpy's mark"));
  EXPECT_THAT(npy_error(npy_file(kOneFloat, "0000", 4)), HasSubstr("versions 1 to 3"));
  const std::string whole = npy_file(kOneFloat, "0000", 2);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(npy_error(whole.substr(0, length)), "") << length;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
