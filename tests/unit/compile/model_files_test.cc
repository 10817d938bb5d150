// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/model_files.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"
#include "tfaot/base/hash.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using testing::MemoryFileSystem;

// As protobuf encodes an entry of TensorProto.external_data.
std::string entry(const std::string& key, const std::string& value) {
  return "\x0A" + std::string(1, static_cast<char>(key.size())) + key + "\x12" +
         std::string(1, static_cast<char>(value.size())) + value;
}

TEST(ModelFiles, OfAnOnnxFileAndItsExternalData) {
  const std::string model = "model" + entry("location", "b.bin") + entry("offset", "10") +
                            entry("location", "data/a.bin") + entry("location", "b.bin");
  const MemoryFileSystem fs({{"/m/net.onnx", model},
                             {"/m/b.bin", "b"},
                             {"/m/data/a.bin", "a"},
                             {"/m/other", "not named"}});
  EXPECT_THAT(model_files(fs, "/m/net.onnx").value(),
              ElementsAre("/m/net.onnx", "/m/b.bin", "/m/data/a.bin"));
}

TEST(ModelFiles, AreThereWhole) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
  const MemoryFileSystem fs({{"/m/empty.onnx", ""},
                             {"/m/pointer.onnx", pointer},
                             {"/m/parts.onnx", "model" + entry("location", "part")},
                             {"/m/part", pointer},
                             {"/saved/saved_model.pb", "a model"},
                             {"/saved/assets/words", ""}});
  const auto problem = [&fs](const Path& model) {
    const Status status = check_model_files(fs, model);
    return status ? "" : status.error().text();
  };
  const std::string is_pointer =
      ": a Git LFS pointer in place of the model's file\n  fetch the file itself: git lfs pull";
  EXPECT_EQ(problem("/m/empty.onnx"), "/m/empty.onnx: the file is empty");
  EXPECT_EQ(problem("/m/pointer.onnx"), "/m/pointer.onnx" + is_pointer);
  EXPECT_EQ(problem("/m/parts.onnx"), "/m/part" + is_pointer);
  EXPECT_EQ(problem("/saved"), "") << "an asset may be empty";
}

TEST(ModelFiles, MissingFilesDoNotCount) {
  const std::string model = entry("location", "missing") + "\x0A\x08location\x12\x7F";
  const MemoryFileSystem fs({{"/m/net.onnx", model + "b.bin"}, {"/m/b.bin", "b"}});
  EXPECT_THAT(model_files(fs, "/m/net.onnx").value(), ElementsAre("/m/net.onnx"));
}

TEST(ModelFiles, NoneLiesOutsideOfTheModelsFolder) {
  const auto fault = [](const std::string& location) {
    MemoryFileSystem fs({{"/m/net.onnx", entry("location", location)}, {"/secret", "s"}});
    EXPECT_TRUE(fs.replace_symlink("../secret", "/m/link"));
    EXPECT_TRUE(fs.replace_symlink("..", "/m/folder"));
    const auto files = model_files(fs, "/m/net.onnx");
    return files ? "" : files.error().message();
  };
  for (const std::string location : {"../secret", "/secret", "link", "folder/secret"}) {
    EXPECT_EQ(fault(location), "leads out of the model's folder, to /secret");
  }
}

TEST(ModelFiles, LinksInAFolderDoNotLeadOutOfIt) {
  MemoryFileSystem fs({{"/m/saved_model.pb", "m"},
                       {"/m/data/v", "v"},
                       {"/secret/v", "s"},
                       {"/blobs/1", "m"},
                       {"/blobs/2", "v"}});
  ASSERT_TRUE(fs.replace_symlink("data", "/m/variables"));
  EXPECT_THAT(model_files(fs, "/m").value(),
              ElementsAre("/m/data/v", "/m/saved_model.pb", "/m/variables/v"));
  ASSERT_TRUE(fs.replace_symlink("../secret", "/m/assets"));
  for (const Status& checked :
       {check_model_files(fs, "/m"), model_sha256(fs, "/m").map([](const std::string&) {})}) {
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().text(),
              "/m/assets/v: leads out of the model's folder, to /secret/v\n"
              "  if you trust the model, copy the file to where the model looks for it: cp -rL "
              "follows links");
  }
  // A cache: all files are links to one folder.
  ASSERT_TRUE(fs.replace_symlink("../blobs/1", "/cache/saved_model.pb"));
  ASSERT_TRUE(fs.replace_symlink("../../blobs/2", "/cache/variables/v"));
  EXPECT_THAT(model_files(fs, "/cache").value(),
              ElementsAre("/cache/saved_model.pb", "/cache/variables/v"));
  ASSERT_TRUE(fs.replace_symlink("../../secret/v", "/cache/variables/w"));
  EXPECT_FALSE(model_files(fs, "/cache"));
}

TEST(ModelFiles, ALongNameHasALengthOfTwoBytes) {
  const std::string name(200, 'n');
  const std::string model = "\x0A\x08location\x12\xC8\x01" + name;
  const MemoryFileSystem fs({{"/m/net.onnx", model}, {"/m/" + name, "n"}});
  EXPECT_EQ(model_files(fs, "/m/net.onnx").value().size(), 2U);
}

TEST(ModelFiles, TheHashIsOfAllFiles) {
  const std::string model = entry("location", "b.bin");
  const MemoryFileSystem one({{"/m/net.onnx", "alone"}, {"/m/b.bin", "b"}});
  EXPECT_EQ(model_sha256(one, "/m/net.onnx").value(), sha256_of("alone"));
  const auto hash_with = [&](const std::string& file, const std::string& data) {
    const MemoryFileSystem fs({{file, model}, {"/m/b.bin", data}});
    return model_sha256(fs, file).value();
  };
  EXPECT_NE(hash_with("/m/net.onnx", "b"), hash_with("/m/net.onnx", "c"));
  EXPECT_EQ(hash_with("/m/net.onnx", "b"), hash_with("/m/renamed.onnx", "b"));
}

TEST(ModelFiles, OfAFolderAreThoseInIt) {
  const MemoryFileSystem fs(
      {{"/m/saved_model.pb", entry("location", "x")}, {"/m/variables/index", ""}});
  EXPECT_THAT(model_files(fs, "/m").value(),
              ElementsAre("/m/saved_model.pb", "/m/variables/index"));
  EXPECT_EQ(model_sha256(fs, "/m").value(), sha256_of_tree(fs, "/m").value());
}

}  // namespace
}  // namespace tfaot::toolkit
