// SPDX-License-Identifier: Apache-2.0
#include "weights_object.h"

#include <algorithm>

#include "tfaot/base/hash.h"
#include "tfaot/compile/elf_objects.h"

namespace tfaot {
namespace {

constexpr std::uint64_t kChunk = 1 << 20;

// Hands on the blob: weights at their offsets, zeros between them.
Status feed_blob(const FileSystem& fs, const MergedModel& merged, const ChunkSink& sink) {
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < merged.weights.size(); ++i) {
    const WeightBytes& weight = merged.weights[i];
    const std::uint64_t offset = merged.model.weights[i].offset;
    TFAOT_TRY(sink(std::string(offset - position, '\0')));
    for (std::uint64_t done = 0; done < weight.size; done += kChunk) {
      const auto size = static_cast<std::size_t>(std::min(kChunk, weight.size - done));
      TFAOT_ASSIGN(const auto bytes, fs.read_range(weight.file, {weight.offset + done, size}));
      if (bytes.size() < size) return fail(Error::internal("a file of weights is too short"));
      TFAOT_TRY(sink(bytes));
    }
    position = offset + weight.size;
  }
  return {};
}

}  // namespace

Status write_weights_object(FileSystem& fs, MergedModel& merged, const Path& file) {
  CompiledModel& model = merged.model;
  const DataObjectFrame object = data_object_frame(
      model.weights_size, {{model.weights_symbol, 0, model.weights_size}}, model.target_triple);
  Sha256 hash;
  const auto produce = [&](const ChunkSink& sink) -> Status {
    TFAOT_TRY(sink(object.head));
    TFAOT_TRY(feed_blob(fs, merged, [&](std::string_view bytes) {
      hash.update(bytes);
      return sink(bytes);
    }));
    return sink(object.tail);
  };
  TFAOT_TRY(fs.write_scratch(file, produce));
  model.weights_sha256 = hash.hex_digest();
  return {};
}

}  // namespace tfaot
