// SPDX-License-Identifier: Apache-2.0
#include "elf_tables.h"

namespace tfaot::toolkit {
namespace {

Error not_an_object() { return Error("not a relocatable object of 64 bits for x86-64 or aarch64"); }

std::size_t entries_of(const ElfSection& section) {
  return section.header.sh_entsize == 0 ? 0 : section.header.sh_size / section.header.sh_entsize;
}

}  // namespace

Result<ElfTables> read_sections(const ElfImage& image) {
  Elf* elf = image.get();
  GElf_Ehdr header{};
  std::size_t names = 0;
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr ||
      elf_getshdrstrndx(elf, &names) != 0) {
    return fail(not_an_object());
  }
  ElfTables tables;
  tables.machine = header.e_machine;
  tables.is_object = gelf_getclass(elf) == ELFCLASS64 && header.e_type == ET_REL &&
                     (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64);
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
  return tables;
}

Status read_symbols(const ElfImage& image, ElfTables& tables) {
  if (tables.symbol_table == 0) return {};
  const ElfSection& section = tables.sections[tables.symbol_table];
  Elf_Data* data = elf_getdata(section.handle, nullptr);
  for (std::size_t i = 0; i < entries_of(section); ++i) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return fail(not_an_object());
    const char* name = elf_strptr(image.get(), section.header.sh_link, symbol.st_name);
    tables.symbols.push_back(symbol);
    tables.symbol_names.emplace_back(name != nullptr ? name : "");
  }
  return {};
}

Status read_relocations(std::size_t table, ElfTables& tables) {
  const ElfSection& section = tables.sections[table];
  if (section.header.sh_type != SHT_RELA) return {};
  Elf_Data* data = elf_getdata(section.handle, nullptr);
  for (std::size_t i = 0; i < entries_of(section); ++i) {
    ElfRelocation relocation{table, section.header.sh_info, static_cast<int>(i), {}};
    if (gelf_getrela(data, relocation.position, &relocation.entry) == nullptr) {
      return fail(not_an_object());
    }
    tables.relocations.push_back(relocation);
  }
  return {};
}

Result<ElfTables> read_object(const ElfImage& image) {
  TFAOT_ASSIGN(ElfTables tables, read_sections(image));
  if (!tables.is_object) return fail(not_an_object());
  TFAOT_TRY(read_symbols(image, tables));
  for (std::size_t i = 0; i < tables.sections.size(); ++i) TFAOT_TRY(read_relocations(i, tables));
  for (const ElfRelocation& relocation : tables.relocations) {
    if (relocation.symbol() >= tables.symbols.size()) return fail(not_an_object());
  }
  return tables;
}

Status change_symbol(const ElfTables& tables, std::size_t position, const GElf_Sym& symbol) {
  Elf_Data* data = elf_getdata(tables.sections[tables.symbol_table].handle, nullptr);
  GElf_Sym changed = symbol;
  if (gelf_update_sym(data, static_cast<int>(position), &changed) == 0) {
    return fail(elf_error("change a symbol"));
  }
  elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
  return {};
}

Status change_relocation(const ElfTables& tables, const ElfRelocation& relocation,
                         const GElf_Rela& entry) {
  Elf_Data* data = elf_getdata(tables.sections[relocation.table].handle, nullptr);
  GElf_Rela changed = entry;
  if (gelf_update_rela(data, relocation.position, &changed) == 0) {
    return fail(elf_error("change a relocation"));
  }
  elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
  return {};
}

Status append(const ElfSection& section, void* bytes, std::size_t size, Elf_Type type) {
  Elf_Data* data = elf_newdata(section.handle);
  if (data == nullptr) return fail(elf_error("add to a section"));
  data->d_buf = bytes;
  data->d_size = size;
  data->d_align = type == ELF_T_SYM ? alignof(Elf64_Sym) : 1;
  data->d_type = type;
  data->d_version = EV_CURRENT;
  return {};
}

}  // namespace tfaot::toolkit
