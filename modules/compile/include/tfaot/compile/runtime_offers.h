// SPDX-License-Identifier: Apache-2.0
// What libtfaot_runtime.a has for compiled code to call (modules/kernels/xla/symbols.txt). Pure
// function, safe from many threads.
#pragma once

#include <string>

namespace tfaot::toolkit {

// A runtime for another processor than x86-64 is made elsewhere: it is taken to have all.
bool runtime_offers(const std::string& symbol, const std::string& target_triple);

}  // namespace tfaot::toolkit
