// SPDX-License-Identifier: Apache-2.0
#include "archive_place.h"

#include <map>
#include <string>

#include "tfaot/base/limits.h"
#include "tfaot/base/staged_update.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kHashLength = 64;

// Hashes by the names of files. Lines of another form are dropped, as sha256sum skips them.
Result<std::map<std::string, std::string>> read_sums(const FileSystem& files, const Path& file) {
  std::map<std::string, std::string> sums;
  TFAOT_ASSIGN(const FileKind kind, files.look(file, Links::kFollow));
  if (kind == FileKind::kMissing) return sums;
  TFAOT_ASSIGN(const std::string text, read_limited(files, file, kManifestLimit));
  for (const std::string& line : split_lines(text)) {
    if (line.size() < kHashLength + 3 || line[kHashLength] != ' ') continue;
    sums[line.substr(kHashLength + 2)] = line.substr(0, kHashLength);
  }
  return sums;
}

}  // namespace

Status put_archive(FileSystem& files, const Path& work, const Package& made, const Path& place,
                   Sums sums) {
  const Path file = place.parent_path() / kSumsName;
  TFAOT_ASSIGN(auto listed, read_sums(files, file));
  const std::string name = place.filename().string();
  StagedUpdate update(files, work / "update");
  TFAOT_TRY(update.put_made(made.archive, place));
  if (sums == Sums::kWritten || listed.contains(name)) {
    listed[name] = made.sha256;
    std::string text;
    for (const auto& [of, sha256] : listed) text += sha256 + "  " + of + "\n";
    TFAOT_TRY(update.put_file(text, file));
  }
  return update.commit();
}

Result<std::string> listed_sha256(const FileSystem& files, const Path& file) {
  TFAOT_ASSIGN(const auto sums, read_sums(files, file.parent_path() / kSumsName));
  const auto listed = sums.find(file.filename().string());
  return listed == sums.end() ? "" : listed->second;
}

}  // namespace tfaot::toolkit
