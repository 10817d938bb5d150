// SPDX-License-Identifier: Apache-2.0
// Packages and source archives. The bytes are a tar, which is packed as gzip does it without
// compressing: a fuzzer does not find its way through compressed bytes. Sums in headers of the tar
// are set right, or nearly all of them would be refused for that.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/package/package.h"
#include "tfaot/package/source_archive.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kSum = 148, kSumDigits = 8, kMagic = 257;

std::string with_right_sums(std::string tar) {
  for (std::size_t at = 0; at + kBlock <= tar.size(); at += kBlock) {
    if (tar.compare(at + kMagic, 5, "ustar") != 0) continue;
    std::fill_n(tar.begin() + static_cast<std::ptrdiff_t>(at + kSum), kSumDigits, ' ');
    unsigned sum = 0;
    for (std::size_t i = at; i < at + kBlock; ++i) sum += static_cast<unsigned char>(tar[i]);
    char digits[kSumDigits + 1];
    std::snprintf(digits, sizeof digits, "%06o", sum & 0777777U);
    tar.replace(at + kSum, 7, digits, 7);
  }
  return tar;
}

std::string little_endian(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 255U);
  return text;
}

// libarchive does not check the sum at the end.
std::string gzip_of(std::string_view bytes) {
  constexpr std::size_t kStored = 0xFFFF;
  std::string packed("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10);
  std::string_view rest = bytes;
  do {
    const std::string_view part = rest.substr(0, kStored);
    rest.remove_prefix(part.size());
    const auto size = static_cast<std::uint32_t>(part.size());
    packed += rest.empty() ? '\1' : '\0';
    packed += little_endian(size, 2) + little_endian(~size, 2);
    packed += part;
  } while (!rest.empty());
  return packed + std::string(4, '\0') + little_endian(static_cast<std::uint32_t>(bytes.size()), 4);
}

}  // namespace

void fuzz(const std::string& bytes) {
  const Path archive = "/in/x.tar.gz";
  testing::MemoryFileSystem files({{archive, gzip_of(with_right_sums(bytes))}, {"/kept", "kept"}});
  if (auto package = PackageArchive::open(files, archive)) {
    static_cast<void>(package->unpack(files, "/in/package"));
  }
  static_cast<void>(unpack_source_archive(files, archive, "/in/source"));
  require(files.list("/").value() == std::vector<std::string>({"in", "kept"}),
          "nothing is written outside of the folder");
  require(files.read("/kept").value() == "kept", "no file outside of the folder is changed");
}

}  // namespace tfaot::toolkit
