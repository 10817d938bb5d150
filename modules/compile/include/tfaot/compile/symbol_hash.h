// SPDX-License-Identifier: Apache-2.0
// Names of code and weights that contain a hash of their contents. Two libraries in one process may
// hold two versions of a model, and each must find its own. One SymbolHash per thread.
#pragma once

#include <string>
#include <string_view>

#include "tfaot/base/hash.h"

namespace tfaot::toolkit {

class SymbolHash {
 public:
  // Code works only with the kernels of its own toolkit, so the version is part of the hash.
  SymbolHash();

  void update(std::string_view bytes) { sha_.update(bytes); }
  // "tfaot_tfaot_model_test_weights_0123456789abcdef": the prefix, '_' and a hash of the bytes.
  // Ends the computation.
  std::string name(const std::string& prefix);
  // A placeholder of the same length, to be used until the bytes are known.
  static std::string unknown_name(const std::string& prefix);

 private:
  Sha256 sha_;
};

// The name for bytes that are all known.
std::string symbol_name(const std::string& prefix, std::string_view bytes);

}  // namespace tfaot::toolkit
