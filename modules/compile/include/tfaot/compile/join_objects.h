// SPDX-License-Identifier: Apache-2.0
// Objects into one: for build rules that link a fixed number of them (tfaot-tfcompile). Starts the
// linker, `ld -r`.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct JoinRequest {
  std::string linker = "ld";  // looked up in PATH when it holds no '/'
  Path output;
  std::vector<Path> objects;
  // Of these archives only members that the objects or `wanted` ask for.
  std::vector<Path> archives;
  std::vector<std::string> wanted = {};  // symbols
  // Other definitions of the output's symbols then do no harm: it may be linked more than once.
  bool weak = false;
};

Status join_objects(FileSystem& fs, const JoinRequest& request);

}  // namespace tfaot::toolkit
