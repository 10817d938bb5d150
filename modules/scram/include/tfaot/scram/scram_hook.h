// SPDX-License-Identifier: Apache-2.0
// The add-on that teaches a scram area <aot_compile> (docs/scram.md): two files of its own, and
// some lines at the end of config/SCRAM/Plugins/BuildRules.py, which alone switch it on. They are
// written last and taken away first, each file in one rename, so a kill leaves scram as it was or
// as it will be. Nothing else of the area is touched, and nothing outside. One process at a time.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

enum class HookState {
  kAbsent,
  kInstalled,  // as this tfaot installs it
  kOther,      // whole, of another tfaot or for another program
  kDamaged,    // switched on, but a file is missing or changed; or files without the switch
};

struct HookStatus {
  HookState state = HookState::kAbsent;
  std::string version;                // of the tfaot that installed it; empty: absent
  std::vector<std::string> problems;  // what is damaged
};

struct HookOptions {
  Path area;            // absolute, holds config/SCRAM
  std::string program;  // tfaot that is to compile the models, absolute
};

// Error: no scram area, or one whose scram this does not know.
Result<HookStatus> hook_status(const FileSystem& fs, const HookOptions& options);
// Idempotent. False: it was there, and nothing was written.
Result<bool> install_hook(FileSystem& fs, const HookOptions& options);
// False: there was nothing. BuildRules.py is again what it was, to the byte.
Result<bool> remove_hook(FileSystem& fs, const HookOptions& options);

}  // namespace tfaot::toolkit
