// SPDX-License-Identifier: Apache-2.0
// What a program has without linking anything: the C library, its mathematics, and what compilers
// call for themselves. Looked up in those of this machine; those of others have the same names.
#pragma once

#include <string>

namespace tfaot::toolkit {

bool system_offers(const std::string& symbol);

}  // namespace tfaot::toolkit
