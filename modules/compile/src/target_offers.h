// SPDX-License-Identifier: Apache-2.0
// The symbols that compiled code may call without libtfaot_runtime.a: every libc, libm and libgcc
// of the targets has them. Pure function, safe from many threads.
#pragma once

#include <string>

namespace tfaot::toolkit {

bool target_offers(const std::string& symbol);

}  // namespace tfaot::toolkit
