// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace tfaot::toolkit::report {

// "12.3 kB", with powers of 1000; below that "512 bytes".
std::string bytes_text(std::uint64_t bytes);

// "12 345 678"
std::string grouped_digits(std::int64_t number);

}  // namespace tfaot::toolkit::report
