// SPDX-License-Identifier: Apache-2.0
// The one list of how much tfaot takes from others: configs, manifests, records, tool files and
// archives. Far above what any model needs, far below what hurts a machine. What is above is an
// error that names the limit. Change a number here and docs/formats.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Of a file that is read whole.
struct FileLimit {
  const char* what;  // with its article, for messages
  std::uint64_t bytes;
};

constexpr FileLimit kConfigLimit = {"a config", std::uint64_t{1} << 20};
constexpr FileLimit kManifestLimit = {"a manifest", std::uint64_t{16} << 20};
constexpr FileLimit kRecordLimit = {"a record", std::uint64_t{64} << 20};
constexpr FileLimit kToolFileLimit = {"a tool file", std::uint64_t{1} << 20};

// Levels of JSON or XML inside each other.
constexpr int kMostNesting = 64;

// Of one package.
constexpr std::int64_t kLargestBatchSize = std::int64_t{1} << 20;
constexpr std::size_t kMostBatchSizes = 1000;
constexpr std::size_t kMostObjects = 10'000;  // batch sizes times CPU levels
constexpr std::size_t kMostTensors = 10'000;  // inputs, or outputs
constexpr std::size_t kMostDimensions = 100;
constexpr std::size_t kMostFiles = 50'000;
constexpr std::size_t kLongestName = 120;   // of a tool, a version, an architecture, a CPU level
constexpr std::size_t kLongestPath = 1000;  // of a file in a package

// An archive may unpack to so many bytes, or to so many times its own size, whichever is more.
constexpr std::uint64_t kUnpackedBytes = 200'000'000;
constexpr std::uint64_t kUnpackedTimes = 100;
// Bytes of an archive, unpacked, that belong to no file: long names, zeros at its end.
constexpr std::uint64_t kStrayBytes = std::uint64_t{16} << 20;

// The whole file, or an error when it is larger.
Result<std::string> read_limited(const FileSystem& fs, const Path& path, const FileLimit& limit);

// Bytes that an archive of this size may unpack to.
std::uint64_t most_unpacked(std::uint64_t archive_bytes);

// "has 20971520 bytes, but a config has at most 1048576"
std::string over_limit(std::uint64_t bytes, const FileLimit& limit);

}  // namespace tfaot::toolkit
