// SPDX-License-Identifier: Apache-2.0
// The weights of a model: the raw ones, as the graph has them, and those that folding derives.
// Derived ones are known by what they are computed from, so that all batch sizes share them. Values
// are read when they are needed and written at once, each to a file of its own, by one of the
// processes that share a folder. The function must outlive the store. Used by one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/signature_function.h"
#include "hlo/evaluate.h"
#include "tfaot/base/file_system.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

class WeightStore {
 public:
  // `raw`: indices into function.weights of those that are parameters, in order.
  static Result<WeightStore> create(FileSystem& fs, const EngineJob& job,
                                    const SignatureFunction& function,
                                    const std::vector<std::size_t>& raw);

  const std::string& name(std::size_t index) const { return weights_[index].entry.name; }
  // The same in all processes that compile the model.
  const std::string& key(std::size_t index) const { return weights_[index].key; }
  // REQUIRES: a raw weight. Reads it.
  Result<Value> value(std::size_t index) const;

  // The derived weight of this key, if it is there.
  std::optional<std::size_t> find(const std::string& key) const;
  // `feed` is not called when another process writes the same.
  Result<std::size_t> add(const std::string& key, std::string name, const xla::Shape& shape,
                          const std::function<Status(const ChunkSink&)>& feed);

  // The tables of these weights in a result; raw ones among them are written now.
  Status finish(const std::vector<std::size_t>& used, EngineResult& result);

 private:
  struct Stored {
    Weight entry;
    std::string key;  // and the name of its file
    const StoredTensor* raw = nullptr;
  };

  WeightStore(FileSystem& fs, Path folder) : fs_(&fs), folder_(std::move(folder)) {}
  Status write(const std::string& key, const std::function<Status(const ChunkSink&)>& feed);

  FileSystem* fs_;
  Path folder_;
  std::vector<Stored> weights_;
  std::map<std::string, std::size_t> derived_;
};

}  // namespace tfaot::toolkit::engine
