// SPDX-License-Identifier: Apache-2.0
// An ELF file as tables of sections, symbols and relocations, to be read and changed one by one.
// Wraps libelf; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "elf_image.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct ElfSection {
  Elf_Scn* handle = nullptr;
  GElf_Shdr header{};
  std::string name;
};

// One entry of a relocation table.
struct ElfRelocation {
  std::size_t table = 0;   // the section that holds it
  std::size_t target = 0;  // the section that it changes
  int position = 0;        // in the table
  GElf_Rela entry{};
  std::size_t symbol() const { return GELF_R_SYM(entry.r_info); }
  std::uint32_t type() const { return static_cast<std::uint32_t>(GELF_R_TYPE(entry.r_info)); }
};

struct ElfTables {
  std::uint16_t machine = 0;
  bool is_object = false;            // relocatable, of 64 bits, for x86-64 or aarch64
  std::vector<ElfSection> sections;  // by index; [0] is empty
  std::size_t symbol_table = 0;      // its section; 0: there is none
  std::vector<GElf_Sym> symbols;
  std::vector<std::string> symbol_names;
  std::vector<ElfRelocation> relocations;
  bool has_plain_relocations = false;  // without addends (SHT_REL)
  bool has_many_sections = false;      // more than a symbol's own field can hold

  bool is_undefined(std::size_t symbol) const { return symbols[symbol].st_shndx == SHN_UNDEF; }
  bool is_global(std::size_t symbol) const {
    return GELF_ST_BIND(symbols[symbol].st_info) != STB_LOCAL;
  }
};

// For any ELF file: the machine and the sections. The functions below add to the result.
Result<ElfTables> read_sections(const ElfImage& image);
Status read_symbols(const ElfImage& image, ElfTables& tables);
// For one section. Its relocations may name symbols beyond the symbol table.
Status read_relocations(std::size_t table, ElfTables& tables);

// Everything in a relocatable 64-bit object; fails for other files.
Result<ElfTables> read_object(const ElfImage& image);

// These change one entry; the section is then marked to be written.
Status change_symbol(const ElfTables& tables, std::size_t position, const GElf_Sym& symbol);
Status change_relocation(const ElfTables& tables, const ElfRelocation& relocation,
                         const GElf_Rela& entry);
// Appends bytes to the section. They must live until the image is written.
Status append(const ElfSection& section, void* bytes, std::size_t size, Elf_Type type);

}  // namespace tfaot::toolkit
