// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tfaot/base/hash.h"
#include "tfaot/records/model_files.h"

namespace tfaot::toolkit {
namespace {

// All files are read once, for the model's hash. The limit is eight times the data a program may
// hold.
constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr std::uint64_t kMostBytes = 16 * kGigabyte;

// How protobuf writes {key: "location", value: "..."} of an ONNX tensor's external data, up to the
// length of the value.
constexpr std::string_view kLocation = "\x0A\x08location\x12";

// The text behind the mark: its length in one or two bytes, then as many bytes. Empty: it is cut.
std::string text_at(std::string_view bytes, std::size_t place) {
  if (place + 1 >= bytes.size()) return "";
  auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[place]));
  if (length >= 128) {
    ++place;
    length =
        length % 128 + 128 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[place]));
  }
  if (bytes.size() - place - 1 < length) return "";
  return std::string(bytes.substr(place + 1, length));
}

// Files beside an ONNX file that it says its data are in. Text that only looks like it names no
// file, or one that is hashed for nothing; the engine reads the model's real fields.
Result<std::vector<Path>> external_files(const FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const std::string bytes, fs.read(file));
  std::vector<Path> found;
  for (std::size_t at = bytes.find(kLocation); at != std::string::npos;
       at = bytes.find(kLocation, at + 1)) {
    const Path name = text_at(bytes, at + kLocation.size());
    const Path path = (file.parent_path() / name).lexically_normal();
    if (name.empty() || !is_file(fs, path)) continue;
    TFAOT_TRY(file_of_model(fs, file, path));
    found.push_back(path);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// A SavedModel's folder may hold links, as long as they do not lead out of it.
Result<std::vector<Path>> files_in_folder(const FileSystem& fs, const Path& folder) {
  const Path binary = folder / "saved_model.pb";
  const Path model = is_file(fs, binary) ? binary : folder / "saved_model.pbtxt";
  TFAOT_ASSIGN(const auto names, list_files_recursively(fs, folder, FolderLinks::kFollow));
  std::vector<Path> files;
  for (const std::string& name : names) {
    files.push_back(folder / name);
    TFAOT_TRY(file_of_model(fs, model, files.back()));
  }
  return files;
}

// Not larger than a protobuf message may be.
bool is_onnx_file(const FileSystem& fs, const Path& source) {
  constexpr std::uint64_t kLargestMessage = 0x7FFFFFFF;
  return format_of_file(source) == ModelFormat::kOnnx && is_file(fs, source) &&
         fs.size(source).value_or(kLargestMessage + 1) <= kLargestMessage;
}

// What `git clone` leaves in place of a large file.
Status check_fetched(const FileSystem& fs, const Path& file) {
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";
  TFAOT_ASSIGN(const std::string head, fs.read_range(file, {0, kPointer.size()}));
  if (head != kPointer) return {};
  return fail(Error::at({file.string()}, "a Git LFS pointer in place of the model's file")
                  .note("fetch the file itself: git lfs pull"));
}

}  // namespace

Result<std::vector<Path>> model_files(const FileSystem& fs, const Path& source) {
  std::vector<Path> files = {source};
  if (is_onnx_file(fs, source)) {
    TFAOT_ASSIGN(const std::vector<Path> external, external_files(fs, source));
    files.insert(files.end(), external.begin(), external.end());
    return files;
  }
  return is_file(fs, source) ? files : files_in_folder(fs, source);
}

Result<std::string> model_sha256(const FileSystem& fs, const Path& source) {
  TFAOT_ASSIGN(const std::vector<Path> files, model_files(fs, source));
  if (!is_onnx_file(fs, source)) return sha256_of_tree(fs, source);
  if (files.size() == 1) return sha256_of_file(fs, source);
  Sha256 hash;
  for (const Path& file : files) {
    TFAOT_ASSIGN(const std::string digest, sha256_of_file(fs, file));
    // The model's own name does not count, as of a model of one file.
    const Path name = file == source ? Path() : file.lexically_relative(source.parent_path());
    hash.update(fmt::format("{}  {}\n", digest, name.string()));
  }
  return hash.hex_digest();
}

Status check_model_files(const FileSystem& fs, const Path& source) {
  TFAOT_ASSIGN(const std::vector<Path> files, model_files(fs, source));
  std::uint64_t total = 0;
  for (const Path& file : files) {
    TFAOT_ASSIGN(const std::uint64_t size, fs.size(file));
    if (size == 0 && file == source) return fail(Error::at({file.string()}, "the file is empty"));
    TFAOT_TRY(check_fetched(fs, file));
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
