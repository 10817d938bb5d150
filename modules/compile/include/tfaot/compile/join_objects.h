// SPDX-License-Identifier: Apache-2.0
// Joins objects into one, for build rules that link a fixed number of them (tfaot-tfcompile).
// Starts the linker, `ld -r`.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct JoinRequest {
  std::string linker = "ld";  // looked up in PATH if it holds no '/'
  Path output;
  std::vector<Path> objects;
  // From these archives, only members that the objects or `wanted` need.
  std::vector<Path> archives;
  std::vector<std::string> wanted = {};  // symbols
  // Makes the output's symbols weak, so that it may be linked more than once.
  bool weak = false;
};

Status join_objects(FileSystem& fs, const JoinRequest& request);

}  // namespace tfaot::toolkit
