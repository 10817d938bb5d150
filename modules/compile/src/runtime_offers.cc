// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/runtime_offers.h"

#include "runtime_symbols.h"

namespace tfaot::toolkit {

bool runtime_offers(const std::string& symbol, const std::string& target_triple) {
  return !target_triple.starts_with("x86_64") ||
         kRuntimeSymbols.find("\n" + symbol + "\n") != std::string_view::npos;
}

}  // namespace tfaot::toolkit
