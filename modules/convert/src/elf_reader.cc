// SPDX-License-Identifier: Apache-2.0
#include "elf_reader.h"

namespace tfaot::toolkit {
namespace {

Error not_an_object() { return Error("not a relocatable object of 64 bits for x86-64 or aarch64"); }

Status read_sections(Elf* elf, ElfTables& tables) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return fail(not_an_object());
  tables.sections.emplace_back();
  Elf_Scn* handle = nullptr;
  while ((handle = elf_nextscn(elf, handle)) != nullptr) {
    ElfSection section{handle, {}, ""};
    if (gelf_getshdr(handle, &section.header) == nullptr) return fail(not_an_object());
    const char* name = elf_strptr(elf, names, section.header.sh_name);
    section.name = name != nullptr ? name : "";
    const auto type = section.header.sh_type;
    if (type == SHT_SYMTAB) tables.symbol_table = tables.sections.size();
    tables.has_plain_relocations = tables.has_plain_relocations || type == SHT_REL;
    tables.has_many_sections = tables.has_many_sections || type == SHT_SYMTAB_SHNDX;
    tables.sections.push_back(std::move(section));
  }
  return {};
}

std::size_t entries_of(const ElfSection& section) {
  return section.header.sh_entsize == 0 ? 0 : section.header.sh_size / section.header.sh_entsize;
}

Status read_symbols(Elf* elf, ElfTables& tables) {
  if (tables.symbol_table == 0) return {};
  const ElfSection& section = tables.sections[tables.symbol_table];
  Elf_Data* data = elf_getdata(section.handle, nullptr);
  for (std::size_t i = 0; i < entries_of(section); ++i) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return fail(not_an_object());
    const char* name = elf_strptr(elf, section.header.sh_link, symbol.st_name);
    tables.symbols.push_back(symbol);
    tables.symbol_names.emplace_back(name != nullptr ? name : "");
  }
  return {};
}

Status read_relocations(ElfTables& tables) {
  for (std::size_t table = 0; table < tables.sections.size(); ++table) {
    const ElfSection& section = tables.sections[table];
    if (section.header.sh_type != SHT_RELA) continue;
    Elf_Data* data = elf_getdata(section.handle, nullptr);
    for (std::size_t i = 0; i < entries_of(section); ++i) {
      ElfRelocation relocation{table, section.header.sh_info, static_cast<int>(i), {}};
      if (gelf_getrela(data, relocation.position, &relocation.entry) == nullptr ||
          relocation.symbol() >= tables.symbols.size()) {
        return fail(not_an_object());
      }
      tables.relocations.push_back(relocation);
    }
  }
  return {};
}

}  // namespace

Result<ElfTables> read_elf_tables(Elf* elf) {
  GElf_Ehdr header{};
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64 ||
      gelf_getehdr(elf, &header) == nullptr || header.e_type != ET_REL ||
      (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)) {
    return fail(not_an_object());
  }
  ElfTables tables;
  tables.machine = header.e_machine;
  TFAOT_TRY(read_sections(elf, tables));
  TFAOT_TRY(read_symbols(elf, tables));
  TFAOT_TRY(read_relocations(tables));
  return tables;
}

}  // namespace tfaot::toolkit
