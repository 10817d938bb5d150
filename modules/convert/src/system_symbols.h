// SPDX-License-Identifier: Apache-2.0
// What a program has without linking any library: the C library, its mathematics, and what
// compilers call for themselves. Looked up in this machine's libraries; other machines have the
// same names.
#pragma once

#include <string>

namespace tfaot::toolkit {

bool system_offers(const std::string& symbol);

}  // namespace tfaot::toolkit
