// SPDX-License-Identifier: Apache-2.0
// The add-on that teaches a scram area <aot_compile> (docs/scram.md): two files of its own, and
// some lines at the end of config/SCRAM/Plugins/BuildRules.py. Only those lines switch it on. They
// are written last and removed first, each file in one rename, so a kill leaves scram in its old
// state or in its new one. Nothing else in the area is changed, and nothing outside of it. One
// process at a time.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

enum class HookState {
  kAbsent,
  kInstalled,  // as this tfaot installs it
  kOther,      // complete, but of another tfaot or for another program
  kDamaged,    // switched on, but a file is missing or changed; or files without the switch
};

struct HookStatus {
  HookState state = HookState::kAbsent;
  std::string version;                // of the tfaot that installed it; empty: absent
  std::vector<std::string> problems;  // what is damaged
};

struct HookOptions {
  Path area;            // absolute, holds config/SCRAM
  std::string program;  // the tfaot that compiles the models, absolute
};

// Error: not a scram area, or an area with a scram that the hook does not know.
Result<HookStatus> hook_status(const FileSystem& fs, const HookOptions& options);
// Idempotent. False: it was already installed, and nothing was written.
Result<bool> install_hook(FileSystem& fs, const HookOptions& options);
// False: it was not installed. BuildRules.py gets back its original bytes.
Result<bool> remove_hook(FileSystem& fs, const HookOptions& options);

}  // namespace tfaot::toolkit
