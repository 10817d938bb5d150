// SPDX-License-Identifier: Apache-2.0
// Files of inputs: .npy, .npz and CSV.
#include "tests/fuzz/fuzz.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/arrays/match_inputs.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/package/zip_file.h"

namespace tfaot::toolkit {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;
const std::vector<TensorSpec> kInputs = {{"x", DType::kFloat32, {3}}, {"flag", DType::kBool, {}}};

void read_npy(const std::string& bytes) {
  static_cast<void>(npy_head(bytes.substr(0, kNpyHeadBytes), bytes.size(), "x.npy"));
  const auto array = npy_from_bytes(bytes, "x.npy");
  if (!array) return;
  const auto again = npy_from_bytes(npy_to_bytes(*array), "x.npy");
  require(again && again->shape == array->shape && again->bytes == array->bytes,
          "an array is the same when it is written and read");
  static_cast<void>(match_inputs({*array}, {{kInputs.front()}}, "x.npy"));
}

void read_npz(const std::string& bytes) {
  const testing::MemoryFileSystem files({{"/x.npz", bytes}});
  const auto wants = [](const std::string& name) { return name.ends_with(".npy"); };
  const auto entries = read_zip(files, "/x.npz", {.most_bytes = kMostBytes, .wants = wants});
  if (!entries) return;
  for (const ZipEntry& entry : *entries) read_npy(entry.bytes);
}

void read_csv(const std::string& bytes) {
  const auto arrays = csv_from_text(bytes, kInputs, "x.csv");
  if (!arrays) return;
  const auto text = csv_to_text(*arrays);
  require(text.has_value(), "a table that was read can be written");
  const auto again = csv_from_text(*text, kInputs, "x.csv");
  require(again && again->size() == arrays->size(), "a table that was written can be read");
}

}  // namespace

void fuzz(const std::string& bytes) {
  read_npy(bytes);
  read_npz(bytes);
  read_csv(bytes);
}

}  // namespace tfaot::toolkit
