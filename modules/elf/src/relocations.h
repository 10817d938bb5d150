// SPDX-License-Identifier: Apache-2.0
// What the relocations from code to constants mean, for each machine. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

namespace tfaot::toolkit {

enum class RelocationUse {
  kAddress,  // the symbol's address plus the addend, in any encoding
  kSlot,     // a table entry with the symbol's address, without the addend
};

// None for types with another meaning, or that compilers do not use for constants.
std::optional<RelocationUse> relocation_use(std::uint16_t machine, std::uint32_t type);

// True if it prevents linking into a shared library: an absolute address in 32 bits.
bool is_position_dependent(std::uint16_t machine, std::uint32_t type);

}  // namespace tfaot::toolkit
