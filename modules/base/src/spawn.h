// SPDX-License-Identifier: Apache-2.0
// Starts a program whose end libuv's event loop notices.
#pragma once

#include <uv.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

struct SpawnWords {
  std::string program;  // looked up in PATH if it holds no '/'
  const std::vector<std::string>& arguments;
  const std::map<std::string, std::string>& environment;  // added to the parent's
  Path working_directory{};                               // empty: the parent's
};

// In its own session and process group. `standard`: its descriptors 0 to 2; -1: /dev/null. The
// callback finds `process.data` as the caller set it. libuv's error, or 0.
int spawn(uv_loop_t& loop, uv_process_t& process, const SpawnWords& words,
          const std::array<int, 3>& standard, uv_exit_cb on_exit);

}  // namespace tfaot::toolkit
