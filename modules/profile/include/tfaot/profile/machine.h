// SPDX-License-Identifier: Apache-2.0
// What a reader of timings must know of the machine, as far as it says so without special rights.
// Only reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

// The cores that this process may use, ascending.
std::vector<std::int64_t> allowed_cores();

// All but name, cpu, noise and the warnings.
ProfiledMachine describe_machine(const FileSystem& files, std::int64_t cores, std::int64_t core);

// What makes its timings doubtful.
std::vector<std::string> machine_warnings(const ProfiledMachine& machine);
// What makes these timings doubtful: others used the core meanwhile.
std::vector<std::string> busy_warnings(const std::vector<ProfiledCurve>& curves);

}  // namespace tfaot::toolkit
