// SPDX-License-Identifier: Apache-2.0
// A small ELF object, written field by field.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace tfaot::toolkit::testing {

// An object of one section and its relocation of this type.
inline std::string object_with(std::uint32_t relocation_type) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_shoff = sizeof(Elf64_Ehdr);
  header.e_shnum = 3;
  header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr text{};
  text.sh_type = SHT_PROGBITS;
  text.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  Elf64_Shdr relocations{};
  relocations.sh_type = SHT_RELA;
  relocations.sh_info = 1;
  relocations.sh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr);
  relocations.sh_size = sizeof(Elf64_Rela);
  relocations.sh_entsize = sizeof(Elf64_Rela);
  Elf64_Rela relocation{};
  relocation.r_info = ELF64_R_INFO(0, relocation_type);
  const auto bytes = [](const auto& record) {
    return std::string(reinterpret_cast<const char*>(&record), sizeof(record));
  };
  return bytes(header) + bytes(Elf64_Shdr{}) + bytes(text) + bytes(relocations) + bytes(relocation);
}

}  // namespace tfaot::toolkit::testing
