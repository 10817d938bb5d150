// SPDX-License-Identifier: Apache-2.0
// Constants of several objects, one after the other; equal ones are stored once. Each block has its
// own symbol, so that relocations against it keep their addends. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {

class SharedConstants {
 public:
  // Symbols are named PREFIX_0, PREFIX_1, ...
  explicit SharedConstants(std::string prefix) : prefix_(std::move(prefix)) {}

  // The symbol of a block with these bytes.
  std::string add(const std::string& bytes);

  const std::string& blob() const { return blob_; }
  const std::vector<DataSymbol>& symbols() const { return symbols_; }  // hidden

 private:
  std::string prefix_;
  std::string blob_;
  std::vector<DataSymbol> symbols_;
  std::map<std::string, std::size_t> known_;  // by SHA-256
};

}  // namespace tfaot::toolkit
