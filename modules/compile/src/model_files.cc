// SPDX-License-Identifier: Apache-2.0
#include "model_files.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tfaot::toolkit {
namespace {

// All files are read once, for the model's hash. The limit is eight times the data a program may
// hold.
constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr std::uint64_t kMostBytes = 16 * kGigabyte;

}  // namespace

Status check_model_files(const FileSystem& fs, const Path& source) {
  std::vector<Path> files = {source};
  if (!is_file(fs, source)) {
    TFAOT_ASSIGN(const auto names, list_files_recursively(fs, source, FolderLinks::kFollow));
    files.clear();
    for (const std::string& name : names) files.push_back(source / name);
  }
  std::uint64_t total = 0;
  for (const Path& file : files) {
    TFAOT_ASSIGN(const std::uint64_t size, fs.size(file));
    total += size;
    if (total <= kMostBytes) continue;
    return fail(
        Error::at({file.string()}, fmt::format("{} bytes, so that the model has more than {} GB",
                                               size, kMostBytes / kGigabyte))
            .note("remove from the model's folder what is not needed to predict"));
  }
  return {};
}

}  // namespace tfaot::toolkit
