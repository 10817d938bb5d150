// SPDX-License-Identifier: Apache-2.0
#include "weights_object.h"

#include "tfaot/base/hash.h"
#include "tfaot/compile/symbol_hash.h"
#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {
namespace {

// Feeds the blob to a sink: weights at their offsets, zeros between them.
Status feed_blob(const FileSystem& fs, const MergedModel& merged, const ChunkSink& sink) {
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < merged.weight_files.size(); ++i) {
    const Weight& weight = merged.model.weights[i];
    TFAOT_TRY(sink(std::string(weight.offset - position, '\0')));
    TFAOT_TRY(fs.read_chunks(merged.weight_files[i], sink));
    position = weight.offset + weight.size;
  }
  return {};
}

}  // namespace

Status write_weights_object(FileSystem& fs, MergedModel& merged, const std::string& symbol,
                            const Path& file) {
  CompiledModel& model = merged.model;
  const auto frame = [&model](const std::string& name) {
    const DataSymbol weights{name, 0, model.weights_size, false, true};
    return data_object_frame(model.weights_size, {weights}, model.target_triple);
  };
  // The head is the same for every name of this length.
  const std::string head = frame(SymbolHash::unknown_name(symbol)).head;
  SymbolHash blob;
  Sha256 hash;
  const auto produce = [&](const ChunkSink& write) -> Status {
    const ChunkSink sink = [&](std::string_view bytes) {
      hash.update(bytes);
      return write(bytes);
    };
    TFAOT_TRY(sink(head));
    TFAOT_TRY(feed_blob(fs, merged, [&](std::string_view bytes) {
      blob.update(bytes);
      return sink(bytes);
    }));
    model.weights_symbol = blob.name(symbol);
    return sink(frame(model.weights_symbol).tail);
  };
  TFAOT_TRY(fs.write_chunks(file, produce, Durability::kScratch));
  model.weights_object_sha256 = hash.hex_digest();
  return {};
}

}  // namespace tfaot::toolkit
