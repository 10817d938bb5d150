// SPDX-License-Identifier: Apache-2.0
// An ELF object as tables: sections, symbols, relocations, to be read and changed one by one. Over
// libelf; one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/compile/elf_handles.h"

namespace tfaot::toolkit {

struct ElfSection {
  Elf_Scn* handle = nullptr;
  GElf_Shdr header{};
  std::string name;
};

// One entry of a table of relocations.
struct ElfRelocation {
  std::size_t table = 0;   // the section that it stands in
  std::size_t target = 0;  // the section that it changes
  int position = 0;        // in the table
  GElf_Rela entry{};
  std::size_t symbol() const { return GELF_R_SYM(entry.r_info); }
  std::uint32_t type() const { return static_cast<std::uint32_t>(GELF_R_TYPE(entry.r_info)); }
};

struct ElfTables {
  std::uint16_t machine = 0;
  std::vector<ElfSection> sections;  // by index; [0] is empty
  std::size_t symbol_table = 0;      // its section; 0: there is none
  std::vector<GElf_Sym> symbols;
  std::vector<std::string> symbol_names;
  std::vector<ElfRelocation> relocations;
  bool has_plain_relocations = false;  // without addends (SHT_REL)
  bool has_many_sections = false;      // more than a symbol's own field can tell
};

// REQUIRES: elf_version() was called. Fails for what is no relocatable 64-bit object.
Result<ElfTables> read_elf_tables(Elf* elf);

}  // namespace tfaot::toolkit
