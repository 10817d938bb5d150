// SPDX-License-Identifier: Apache-2.0
// What the relocations of code to its constants mean, by machine. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

namespace tfaot::toolkit {

enum class RelocationUse {
  kAddress,  // of the symbol plus the addend, however it is written down
  kSlot,     // of a table entry with the symbol's address; the addend is not part of that
};

// None for types that mean something else, or that compilers do not make of constants.
std::optional<RelocationUse> relocation_use(std::uint16_t machine, std::uint32_t type);

// Whether it keeps its object out of libraries: an absolute address in 32 bits.
bool is_position_dependent(std::uint16_t machine, std::uint32_t type);

}  // namespace tfaot::toolkit
