// SPDX-License-Identifier: Apache-2.0
// Engines whose wheel ships a library but no headers are opened at run time: their functions are
// declared by hand, from the documentation of their stable C interface, and found by name.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace tfaot::runner {

class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& path)
      : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }

  // REQUIRES: the function has this type.
  template <class Function>
  Function* find(const char* name) const {
    void* const address = dlsym(handle_, name);
    if (address == nullptr) throw std::runtime_error(std::string("the library has no ") + name);
    return reinterpret_cast<Function*>(address);
  }

 private:
  void* handle_;  // never closed: the engine lives as long as the process
};

}  // namespace tfaot::runner
