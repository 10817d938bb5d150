// SPDX-License-Identifier: Apache-2.0
// The dynamic loader: opens shared libraries, finds their symbols. Safe from many threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Owns one opened library; its symbols live as long.
class SharedLibrary {
 public:
  // Its symbols are not seen by other libraries.
  static Result<SharedLibrary> open(const Path& file);

  // Error: there is none.
  Result<void*> symbol(const std::string& name) const;

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  SharedLibrary(Path file, void* handle) : file_(std::move(file)), handle_(handle) {}

  Path file_;
  std::unique_ptr<void, Close> handle_;
};

// The files of the C and C++ standard libraries in this process. A library that needs them finds
// them by their names, because they are loaded.
std::vector<Path> loaded_standard_libraries();

}  // namespace tfaot::toolkit
