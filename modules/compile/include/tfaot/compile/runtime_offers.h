// SPDX-License-Identifier: Apache-2.0
// The symbols that libtfaot_runtime.a offers to compiled code (cmake/build/TfaotKernelTable.cmake).
// Pure function, safe from many threads.
#pragma once

#include <string>

namespace tfaot::toolkit {

// The runtime for other processors than x86-64 is built elsewhere, so it is assumed to have them
// all.
bool runtime_offers(const std::string& symbol, const std::string& target_triple);

}  // namespace tfaot::toolkit
