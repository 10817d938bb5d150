// SPDX-License-Identifier: Apache-2.0
// The weights of a model: the raw ones, as the graph has them, and those that folding derives.
// Derived ones are known by what they are computed from, so that all batch sizes share them; their
// values are written at once and not kept. The raw tensors must outlive the store. Used by one
// thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "signature_function.h"
#include "tfaot/base/file_system.h"
#include "tfaot/compile/compile_types.h"
#include "xla/literal.h"

namespace tfaot::engine {

class WeightStore {
 public:
  // `raw`: indices into function.weights of those that are parameters, in order. What is to be
  // stored goes to `sink`.
  static Result<WeightStore> create(const SignatureFunction& function,
                                    const std::vector<std::size_t>& raw, ChunkSink sink);

  const std::string& name(std::size_t index) const { return weights_[index].entry.name; }
  // REQUIRES: a raw weight.
  const xla::LiteralBase& value(std::size_t index) const { return *weights_[index].value; }

  // The derived weight of this key, if it is there.
  std::optional<std::size_t> find(const std::string& key) const;
  Result<std::size_t> add(const std::string& key, std::string name, const xla::LiteralBase& value);

  // The table of these weights; raw ones among them are written now.
  Result<std::vector<Weight>> table(const std::vector<std::size_t>& used);

 private:
  struct Stored {
    Weight entry;
    std::unique_ptr<xla::LiteralBase> value;  // of a raw weight
  };

  explicit WeightStore(ChunkSink sink) : sink_(std::move(sink)) {}
  Status write(const xla::LiteralBase& value, Weight& entry);

  std::vector<Stored> weights_;
  std::map<std::string, std::size_t> derived_;
  ChunkSink sink_;
  std::uint64_t written_ = 0;
};

}  // namespace tfaot::engine
