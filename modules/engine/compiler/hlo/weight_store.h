// SPDX-License-Identifier: Apache-2.0
// The weights of a model: the raw ones, as in the graph, and those that folding derives from them.
// Derived ones are identified by what they are computed from, so that all batch sizes share them.
// Values are read when needed and written at once. One of the processes that share a folder writes
// each to its own file. Used by one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "tfaot/base/file_system.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit::engine {

// The name of packed tensors: the op_name of the instruction that packs them.
inline constexpr const char* kPackedName = "packed";

class WeightStore {
 public:
  // `folder`: for the files of weights. `raw`: those that are parameters, in order. Must outlive
  // the store.
  static Result<WeightStore> create(FileSystem& fs, Path folder, const std::vector<RawWeight>& raw);

  const std::string& name(std::size_t index) const { return weights_[index].entry.name; }
  // The same in all processes that compile the model.
  const std::string& key(std::size_t index) const { return weights_[index].key; }
  // Its place in the blob is not known.
  const WeightOrigin& origin(std::size_t index) const { return weights_[index].origin; }
  // REQUIRES: a raw weight. Reads it.
  Result<Value> value(std::size_t index) const;

  // The raw weight of this name; nothing if there is none.
  std::optional<std::size_t> raw_named(const std::string& name) const;
  const Weight& entry(std::size_t index) const { return weights_[index].entry; }
  // Its bytes, row-major. REQUIRES: it is raw, or this process wrote it.
  Result<std::string> bytes(std::size_t index) const;

  // The derived weight with this key, if it exists.
  std::optional<std::size_t> find(const std::string& key) const;
  // `weight`: its name, variables and operations. `feed` is not called if another process writes
  // the same weight.
  Result<std::size_t> add(const std::string& key, WeightOrigin weight, const xla::Shape& shape,
                          const std::function<Status(const ChunkSink&)>& feed);

  // Adds these weights to a result's tables; writes the raw ones among them now.
  Status finish(const std::vector<std::size_t>& used, EngineResult& result);

 private:
  struct Stored {
    Weight entry;
    std::string key;  // also the name of its file
    WeightOrigin origin;
    const RawWeight* raw = nullptr;
  };

  WeightStore(FileSystem& fs, Path folder) : fs_(&fs), folder_(std::move(folder)) {}
  Status write(const std::string& key, const std::function<Status(const ChunkSink&)>& feed);

  FileSystem* fs_;
  Path folder_;
  std::vector<Stored> weights_;
  std::map<std::string, std::size_t> derived_;
};

}  // namespace tfaot::toolkit::engine
