// SPDX-License-Identifier: Apache-2.0
#include "relocations.h"

#include <elf.h>

namespace tfaot::toolkit {
namespace {

std::optional<RelocationUse> use_on_x86_64(std::uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC32:
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC64:
    case R_X86_64_GOTOFF64:
      return RelocationUse::kAddress;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
    case R_X86_64_GOT64:
    case R_X86_64_GOTPCREL64:
      return RelocationUse::kSlot;
    default:
      return std::nullopt;
  }
}

std::optional<RelocationUse> use_on_aarch64(std::uint32_t type) {
  switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return RelocationUse::kAddress;
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return RelocationUse::kSlot;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<RelocationUse> relocation_use(std::uint16_t machine, std::uint32_t type) {
  return machine == EM_AARCH64 ? use_on_aarch64(type) : use_on_x86_64(type);
}

bool is_position_dependent(std::uint16_t machine, std::uint32_t type) {
  return machine == EM_X86_64 && (type == R_X86_64_32 || type == R_X86_64_32S);
}

}  // namespace tfaot::toolkit
