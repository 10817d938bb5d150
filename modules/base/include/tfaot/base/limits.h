// SPDX-License-Identifier: Apache-2.0
// The one list of limits for what tfaot reads: configs, models, manifests, records, tool files,
// BuildFiles and archives. They are far above what any model needs, and far below what hurts a
// machine. Anything above is an error that names the limit. If you change a number here, change
// docs/formats.md too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// A limit for a file that is read whole.
struct FileLimit {
  const char* what;  // with its article, for messages
  std::uint64_t bytes;
};

constexpr FileLimit kConfigLimit = {"a config", std::uint64_t{1} << 20};
constexpr FileLimit kManifestLimit = {"a manifest", std::uint64_t{16} << 20};
constexpr FileLimit kRecordLimit = {"a record", std::uint64_t{64} << 20};
constexpr FileLimit kCheckLimit = {"a stored check", std::uint64_t{16} << 20};
// Also what the arrays of a .npz may have unpacked, in all.
constexpr FileLimit kArraysLimit = {"a file of arrays", std::uint64_t{64} << 30};
// What XLA writes for one module: graphs, buffers, code.
constexpr FileLimit kDumpFileLimit = {"a file of a dump", std::uint64_t{512} << 20};
constexpr FileLimit kToolFileLimit = {"a tool file", std::uint64_t{1} << 20};
constexpr FileLimit kHistoryLimit = {"the history of an area", std::uint64_t{256} << 20};
constexpr FileLimit kBuildFileLimit = {"a BuildFile", std::uint64_t{1} << 20};

// How deep JSON or XML may be nested.
constexpr int kMostNesting = 64;

// Limits of one package.
constexpr std::int64_t kLargestBatchSize = std::int64_t{1} << 20;
constexpr std::size_t kMostBatchSizes = 1000;
constexpr std::size_t kMostObjects = 10'000;  // batch sizes times CPU levels
constexpr std::size_t kMostTensors = 10'000;  // inputs, or outputs
constexpr std::size_t kMostDimensions = 100;  // of a tensor
constexpr std::size_t kMostFiles = 50'000;
constexpr std::size_t kMostWeights = 100'000;
constexpr std::size_t kLongestName = 120;   // of a tool, a version, an architecture, a CPU level
constexpr std::size_t kLongestPath = 1000;  // of a file in a package
// Of an input, an output, a weight, a dimension or a signature.
constexpr std::size_t kLongestTensorName = 1000;
constexpr std::size_t kLongestZipName = 65'535;  // the format has 16 bits for its length

// Limits of a model's tensors and graphs.
// Elements of a tensor, or of one row of an input. Sizes in bytes, of many rows, must not overflow.
constexpr std::int64_t kMostTensorElements = std::int64_t{1} << 40;
// Elements that are computed while compiling: shapes, indices, conditions and what they need.
constexpr std::int64_t kMostKnownElements = std::int64_t{1} << 22;
// Elements that a small model can make many of: Fourier matrices, leaves, sparse tensors.
constexpr std::int64_t kMostMadeElements = std::int64_t{1} << 25;
// Elements of a window, a stride, a dilation or a padding, in one dimension.
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 30;
constexpr std::int64_t kMostTargets = std::int64_t{1} << 20;  // of a forest
// Nodes of an ONNX graph once functions are called and loops of known length written out.
constexpr std::int64_t kMostNodes = 100'000;
constexpr int kMostNestedCalls = 100;  // of functions

// An archive may unpack to this many bytes, or to this multiple of its own size, whichever is more.
constexpr std::uint64_t kUnpackedBytes = 200'000'000;
constexpr std::uint64_t kUnpackedTimes = 100;
// Bytes in an unpacked archive that belong to no file: long names, zeros at the end.
constexpr std::uint64_t kStrayBytes = std::uint64_t{16} << 20;

// The whole file, or an error if it is larger than the limit.
Result<std::string> read_limited(const FileSystem& fs, const Path& path, const FileLimit& limit);

// The number of bytes that an archive of this size may unpack to.
std::uint64_t most_unpacked(std::uint64_t archive_bytes);

// "has 20971520 bytes, but a config has at most 1048576"
std::string over_limit(std::uint64_t bytes, const FileLimit& limit);

}  // namespace tfaot::toolkit
