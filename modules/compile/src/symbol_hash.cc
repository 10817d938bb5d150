// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/symbol_hash.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kDigits = 16;

}  // namespace

SymbolHash::SymbolHash() { sha_.update("tfaot " TFAOT_VERSION "\n"); }

std::string SymbolHash::name(const std::string& prefix) {
  return prefix + "_" + sha_.hex_digest().substr(0, kDigits);
}

std::string SymbolHash::unknown_name(const std::string& prefix) {
  return prefix + "_" + std::string(kDigits, '0');
}

std::string symbol_name(const std::string& prefix, std::string_view bytes) {
  SymbolHash hash;
  hash.update(bytes);
  return hash.name(prefix);
}

}  // namespace tfaot::toolkit
