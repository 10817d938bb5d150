// SPDX-License-Identifier: Apache-2.0
#include "system_symbols.h"

#include <dlfcn.h>

#include <memory>

namespace tfaot::toolkit {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

bool offers(const char* name, const std::string& symbol) {
  const std::unique_ptr<void, CloseLibrary> library(::dlopen(name, RTLD_LAZY | RTLD_LOCAL));
  return library != nullptr && ::dlsym(library.get(), symbol.c_str()) != nullptr;
}

}  // namespace

bool system_offers(const std::string& symbol) {
  // The linker makes it, for tables of addresses.
  if (symbol == "_GLOBAL_OFFSET_TABLE_") return true;
  return offers("libc.so.6", symbol) || offers("libm.so.6", symbol) ||
         offers("libgcc_s.so.1", symbol);
}

}  // namespace tfaot::toolkit
