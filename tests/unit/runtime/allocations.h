// SPDX-License-Identifier: Apache-2.0
// Counts what operator new hands out in this test program, of the calling thread.
#pragma once

#include <cstddef>

namespace tfaot_test {

std::size_t allocations() noexcept;

}  // namespace tfaot_test
