// SPDX-License-Identifier: Apache-2.0
#include "package_samples.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit::testing {

std::vector<StagedFile> sample_files() {
  std::string object(200'000,
                     '\0');  // more than one block of every compressor, and not just one byte
  unsigned state = 1;
  for (char& c : object) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 27U);
  return {{"tfaot-model-test.xml", "<tool/>\n", {}},
          {"include/tfaot-model-test/model.h", "#pragma once\n", {}},
          {"lib/test_bs1_x86-64.o", object, {}},
          {"lib/empty.o", "", {}}};
}

Manifest sample_manifest(const std::vector<StagedFile>& files) {
  Manifest manifest;
  manifest.toolkit_version = "0.1.0";
  manifest.name = "test";
  manifest.version = "1.0.0";
  manifest.cpp_class = "tfaot_model::test";
  manifest.tool_name = "tfaot-model-test";
  manifest.architecture = "x86_64-linux";
  manifest.target_triple = "x86_64-unknown-linux-gnu";
  manifest.engine = "tensorflow-cpu 2.18.1";
  manifest.signature = {
      "serving_default", {{"x", DType::kFloat32, {10}}}, {{"y", DType::kFloat32, {2}}}};
  manifest.batch_sizes = {1};
  manifest.cpu_levels = {"x86-64"};
  manifest.weights.storage = WeightsMode::kEmbedded;
  manifest.source_sha256 = std::string(64, 'a');
  manifest.files = hash_staged_files(MemoryFileSystem(), files).value();
  return manifest;
}

void write_sample(FileSystem& fs, const Path& root) {
  const auto files = sample_files();
  const Status written = write_tree(fs, files, sample_manifest(files), root);
  ASSERT_TRUE(written) << written.error().text();
}

std::map<std::string, std::string> contents_of(const FileSystem& fs, const Path& root) {
  std::map<std::string, std::string> contents;
  if (fs.kind(root) == FileKind::kMissing) return contents;
  const auto files = list_files_recursively(fs, root);
  for (const std::string& file : files.value()) contents[file] = fs.read(root / file).value();
  return contents;
}

}  // namespace tfaot::toolkit::testing
