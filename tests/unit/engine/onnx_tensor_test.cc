// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/onnx_source.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

onnx::TensorProto tensor(const std::string& text) {
  onnx::TensorProto made;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("name: 'w' " + text, &made));
  return made;
}

template <typename T>
std::vector<T> values(const onnx::TensorProto& proto, const std::string& model = "/m/net.onnx") {
  const auto literal = read_tensor(proto, model);
  if (!literal) {
    ADD_FAILURE() << literal.error().text();
    return {};
  }
  const auto data = literal->data<T>();
  return {data.begin(), data.end()};
}

std::vector<int> flags(const onnx::TensorProto& proto) {
  const auto literal = read_tensor(proto, "/m/net.onnx");
  const auto data = literal.value().data<bool>();
  std::vector<int> made;
  for (const bool value : data) made.push_back(value ? 1 : 0);
  return made;
}

std::string error(const onnx::TensorProto& proto, const std::string& model = "/m/net.onnx") {
  const auto literal = read_tensor(proto, model);
  return literal ? "no error" : literal.error().text();
}

TEST(OnnxTensorTest, ReadsTheFieldOfEachType) {
  EXPECT_THAT(values<float>(tensor("data_type: 1 dims: 2 float_data: [1.5, -2]")),
              ElementsAre(1.5F, -2));
  EXPECT_THAT(values<double>(tensor("data_type: 11 dims: 1 double_data: 0.25")), ElementsAre(0.25));
  EXPECT_THAT(values<std::int64_t>(tensor("data_type: 7 dims: 1 int64_data: -7")), ElementsAre(-7));
  EXPECT_THAT(values<std::uint32_t>(tensor("data_type: 12 dims: 1 uint64_data: 4000000000")),
              ElementsAre(4000000000U));
  EXPECT_THAT(values<std::int8_t>(tensor("data_type: 3 dims: 2 int32_data: [-1, 5]")),
              ElementsAre(-1, 5));
  EXPECT_THAT(flags(tensor("data_type: 9 dims: 2 int32_data: [1, 0]")), ElementsAre(1, 0));
  const auto half = values<xla::half>(tensor("data_type: 10 dims: 1 int32_data: 15872"));
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(static_cast<float>(half[0]), 1.5F);
}

TEST(OnnxTensorTest, ReadsRawBytesAndScalars) {
  EXPECT_THAT(values<float>(tensor(R"(data_type: 1 raw_data: "\000\000\200\077")")),
              ElementsAre(1.0F));
  EXPECT_THAT(values<float>(tensor("data_type: 1 dims: 0")), ElementsAre());
}

// Other bytes than 0 and 1 in a file: all but 0 are true, as in numpy.
TEST(OnnxTensorTest, TruthValuesAreZeroAndOne) {
  const auto bytes = [](const onnx::TensorProto& proto, const std::string& model = "/m/net.onnx") {
    const xla::Literal literal = read_tensor(proto, model).value();
    const auto* const data = static_cast<const unsigned char*>(literal.untyped_data());
    return std::vector<int>(data, data + literal.size_bytes());
  };
  EXPECT_THAT(bytes(tensor(R"(data_type: 9 dims: 4 raw_data: "\007\000\001\377")")),
              ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(bytes(tensor("data_type: 9 dims: 4 int32_data: [7, 0, 256, -1]")),
              ElementsAre(1, 0, 1, 1));
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "b.bin", std::ios::binary) << std::string("\0\x80", 2);
  EXPECT_THAT(bytes(tensor("data_type: 9 dims: 2 data_location: EXTERNAL external_data { key: "
                           "'location' value: 'b.bin' }"),
                    (folder.path() / "net.onnx").string()),
              ElementsAre(0, 1));
}

TEST(OnnxTensorTest, ReadsExternalDataInTheModelsFolder) {
  const testing::TemporaryFolder folder;
  const float numbers[] = {1, 2, 3, 4};
  std::ofstream(folder.path() / "w.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const std::string head = "data_type: 1 dims: 2 data_location: EXTERNAL ";
  const std::string place = (folder.path() / "net.onnx").string();
  EXPECT_THAT(values<float>(tensor(head + "external_data { key: 'location' value: 'w.bin' } "
                                          "external_data { key: 'offset' value: '4' }"),
                            place),
              ElementsAre(2, 3));
  EXPECT_THAT(error(tensor(head + "external_data { key: 'location' value: 'w.bin' } "
                                  "external_data { key: 'offset' value: '12' }"),
                    place),
              HasSubstr("w.bin: ends before the 8 bytes of tensor 'w' at 12"));
  EXPECT_THAT(error(tensor(head + "external_data { key: 'location' value: '../w.bin' }"), place),
              HasSubstr("external data must lie in the folder of the model"));
  EXPECT_THAT(error(tensor(head + "external_data { key: 'location' value: '/etc/passwd' }"), place),
              HasSubstr("external data must lie in the folder of the model"));
  EXPECT_THAT(error(tensor(head + "external_data { key: 'location' value: 'no.bin' }"), place),
              HasSubstr("no.bin: cannot read: No such file or directory"));
  EXPECT_THAT(error(tensor(head + "external_data { key: 'location' value: 'w.bin' } "
                                  "external_data { key: 'length' value: '9' }"),
                    place),
              HasSubstr("9 bytes of external data instead of 8"));
}

// Links are followed inside of the model's folder, and nowhere else; nor for a tensor of no bytes.
TEST(OnnxTensorTest, ReadsNoExternalDataThroughLinksThatLeadOut) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  const Path inside = folder.path() / "m";
  ASSERT_TRUE(files.replace_atomically(folder.path() / "secret", "secret!!"));
  ASSERT_TRUE(files.replace_atomically(inside / "data/w.bin", std::string(8, '\0')));
  ASSERT_TRUE(files.replace_symlink("../secret", inside / "file"));
  ASSERT_TRUE(files.replace_symlink("..", inside / "folder"));
  ASSERT_TRUE(files.replace_symlink("/dev/zero", inside / "device"));
  ASSERT_TRUE(files.replace_symlink("data/w.bin", inside / "w.bin"));
  const auto at = [](const std::string& dims, const std::string& location) {
    return tensor("data_type: 1 " + dims + " data_location: EXTERNAL external_data { key: " +
                  "'location' value: '" + location + "' }");
  };
  const std::string model = (inside / "net.onnx").string();
  EXPECT_THAT(values<float>(at("dims: 2", "w.bin"), model), ElementsAre(0, 0));
  EXPECT_THAT(values<float>(at("dims: 2", "./data/../w.bin"), model), ElementsAre(0, 0));
  for (const std::string dims : {"dims: 2", "dims: 0"}) {
    for (const std::string location : {"file", "folder/secret", "data/../../secret", "device"}) {
      EXPECT_THAT(error(at(dims, location), model),
                  HasSubstr("external data must lie in the folder of the model"));
    }
  }
  EXPECT_THAT(error(at("dims: 0", "data"), model), HasSubstr("cannot read"));

  // As in caches of models: all names are links to files in one folder.
  ASSERT_TRUE(files.replace_atomically(folder.path() / "blobs/net", "model"));
  ASSERT_TRUE(files.replace_atomically(folder.path() / "blobs/w", std::string(8, '\0')));
  ASSERT_TRUE(files.replace_symlink("../blobs/net", folder.path() / "snapshot/net.onnx"));
  ASSERT_TRUE(files.replace_symlink("../blobs/w", folder.path() / "snapshot/w.bin"));
  EXPECT_THAT(values<float>(at("dims: 2", "w.bin"), (folder.path() / "snapshot/net.onnx").string()),
              ElementsAre(0, 0));
}

TEST(OnnxTensorTest, RefusesValuesThatDoNotFitTheShape) {
  EXPECT_THAT(error(tensor("data_type: 1 dims: 3 float_data: 1")),
              HasSubstr("tensor 'w' of shape f32[3]"));
  EXPECT_THAT(error(tensor("data_type: 1 dims: -3")), HasSubstr("dimension of size -3"));
  EXPECT_THAT(error(tensor("data_type: 1 dims: 4000000000 dims: 4000000000")),
              HasSubstr("dimension of size 4000000000"));
  std::string ones;
  for (int i = 0; i <= 100; ++i) ones += " dims: 1";
  EXPECT_EQ(error(tensor("data_type: 1 float_data: 1" + ones)),
            "tensor 'w' has 101 dimensions, but at most 100 are allowed");
  EXPECT_THAT(error(tensor("data_type: 8 dims: 1 string_data: 'x'")),
              HasSubstr("has values of STRING"));
  EXPECT_THAT(error(tensor("data_type: 99 dims: 1")), HasSubstr("has values of type 99"));
}

TEST(OnnxTensorTest, AFileThatIsNoModelIsRefused) {
  const testing::TemporaryFolder folder;
  JobModel job;
  job.source = (folder.path() / "model.onnx").string();
  const auto missing = load_onnx_source(job);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("cannot read it"));
  std::ofstream(job.source) << "no model";
  const auto wrong = load_onnx_source(job);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("is not an ONNX model"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
