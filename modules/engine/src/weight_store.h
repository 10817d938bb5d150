// SPDX-License-Identifier: Apache-2.0
// The weights of a model: the raw ones, as the graph has them, and those that folding derives.
// Derived ones are kept by what they are computed from, so that all batch sizes share them. The
// raw tensors must outlive the store. Used by one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "signature_function.h"
#include "tfaot/compile/compile_types.h"
#include "xla/literal.h"

namespace tfaot::engine {

class WeightStore {
 public:
  // `raw`: indices into function.weights of those that are parameters, in order.
  static Result<WeightStore> create(const SignatureFunction& function,
                                    const std::vector<std::size_t>& raw);

  std::size_t size() const { return weights_.size(); }
  const std::string& name(std::size_t index) const { return weights_[index].name; }
  const xla::LiteralBase& value(std::size_t index) const { return *weights_[index].value; }

  // The derived weight of this key, if it is there.
  std::optional<std::size_t> find(const std::string& key) const;
  std::size_t add(const std::string& key, std::string name, xla::Literal value);

  // The table of these weights and their bytes, one after the other.
  Result<std::string> lay_out(const std::vector<std::size_t>& used,
                              std::vector<Weight>& table) const;

 private:
  struct Stored {
    std::string name;
    std::unique_ptr<xla::LiteralBase> value;
  };
  std::vector<Stored> weights_;
  std::map<std::string, std::size_t> derived_;
};

}  // namespace tfaot::engine
