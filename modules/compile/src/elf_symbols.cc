// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tfaot/compile/elf_handles.h"
#include "tfaot/compile/elf_objects.h"

namespace tfaot::toolkit {
namespace {

// The first section of this type; null when there is none.
Elf_Scn* section_of_type(Elf* elf, GElf_Word type, GElf_Shdr& header) {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) break;
  }
  return section;
}

// Puts a text behind the others of a string table; its offset.
Result<GElf_Word> append_string(Elf* elf, GElf_Word table, const std::string& text) {
  Elf_Scn* section = elf_getscn(elf, table);
  GElf_Shdr header{};
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) {
    return fail(elf_error("read the names of symbols"));
  }
  Elf_Data* data = elf_newdata(section);
  if (data == nullptr) return fail(elf_error("add a name"));
  // libelf's interface takes no const; it only reads. The end counts as a character.
  data->d_buf = const_cast<char*>(text.c_str());
  data->d_size = text.size() + 1;
  data->d_align = 1;
  data->d_type = ELF_T_BYTE;
  data->d_version = EV_CURRENT;
  return static_cast<GElf_Word>(header.sh_size);
}

// An object in memory whose symbols are changed.
struct SymbolTable {
  MemoryFile file;
  ElfHandle elf;
  GElf_Shdr header{};
  Elf_Data* symbols = nullptr;

  Status open(const std::string& object) {
    TFAOT_TRY(file.write(object));
    elf_version(EV_CURRENT);
    elf.reset(elf_begin(file.descriptor(), ELF_C_RDWR, nullptr));
    Elf_Scn* section = elf ? section_of_type(elf.get(), SHT_SYMTAB, header) : nullptr;
    symbols = section != nullptr ? elf_getdata(section, nullptr) : nullptr;
    if (symbols == nullptr || header.sh_entsize == 0) return fail(elf_error("read the symbols"));
    return {};
  }
  int size() const { return static_cast<int>(header.sh_size / header.sh_entsize); }
  Result<std::string> written() const {
    if (elf_update(elf.get(), ELF_C_WRITE) < 0) return fail(elf_error("write an object"));
    return file.contents();
  }
};

}  // namespace

Result<std::vector<std::string>> undefined_symbols(const std::string& object,
                                                   const std::vector<std::string_view>& prefixes) {
  elf_version(EV_CURRENT);
  std::string copy = object;  // libelf may write into it
  const ElfHandle elf(elf_memory(copy.data(), copy.size()));
  if (elf == nullptr) return fail(elf_error("read an object"));
  std::vector<std::string> names;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) return fail(elf_error("read a section"));
    if (header.sh_type != SHT_SYMTAB || header.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
      GElf_Sym symbol{};
      if (gelf_getsym(data, i, &symbol) == nullptr) return fail(elf_error("read a symbol"));
      const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      if (symbol.st_shndx != SHN_UNDEF || name == nullptr) continue;
      const bool is_wanted = std::any_of(
          prefixes.begin(), prefixes.end(),
          [&](std::string_view prefix) { return std::string_view(name).starts_with(prefix); });
      if (is_wanted) names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::erase(names, "");
  return names;
}

Result<std::string> run_path(const std::string& program) {
  elf_version(EV_CURRENT);
  std::string copy = program;  // libelf may write into it
  const ElfHandle elf(elf_memory(copy.data(), copy.size()));
  GElf_Shdr header{};
  Elf_Scn* section = elf ? section_of_type(elf.get(), SHT_DYNAMIC, header) : nullptr;
  Elf_Data* data = section != nullptr ? elf_getdata(section, nullptr) : nullptr;
  if (data == nullptr) return fail(elf_error("read a program"));
  GElf_Dyn entry{};
  for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
    if (entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH) continue;
    const char* folders = elf_strptr(elf.get(), header.sh_link, entry.d_un.d_val);
    return folders == nullptr ? std::string() : std::string(folders);
  }
  return std::string();
}

Result<std::string> rename_symbol(const std::string& object, const SymbolRenaming& names) {
  SymbolTable table;
  TFAOT_TRY(table.open(object));
  for (int i = 0; i < table.size(); ++i) {
    GElf_Sym symbol{};
    if (gelf_getsym(table.symbols, i, &symbol) == nullptr) return fail(elf_error("read a symbol"));
    const char* name = elf_strptr(table.elf.get(), table.header.sh_link, symbol.st_name);
    if (symbol.st_shndx == SHN_UNDEF || name == nullptr || name != names.from) continue;
    TFAOT_ASSIGN(symbol.st_name, append_string(table.elf.get(), table.header.sh_link, names.to));
    symbol.st_info = GELF_ST_INFO(STB_WEAK, GELF_ST_TYPE(symbol.st_info));
    if (gelf_update_sym(table.symbols, i, &symbol) == 0) return fail(elf_error("rename a symbol"));
    return table.written();
  }
  return fail(Error::internal(fmt::format("an object defines no symbol '{}'", names.from)));
}

Result<std::string> weakened(const std::string& object) {
  SymbolTable table;
  TFAOT_TRY(table.open(object));
  elf_flagelf(table.elf.get(), ELF_C_SET, ELF_F_LAYOUT);  // nothing moves
  for (int i = 0; i < table.size(); ++i) {
    GElf_Sym symbol{};
    if (gelf_getsym(table.symbols, i, &symbol) == nullptr) return fail(elf_error("read a symbol"));
    if (symbol.st_shndx == SHN_UNDEF || GELF_ST_BIND(symbol.st_info) != STB_GLOBAL) continue;
    symbol.st_info = GELF_ST_INFO(STB_WEAK, GELF_ST_TYPE(symbol.st_info));
    if (gelf_update_sym(table.symbols, i, &symbol) == 0) return fail(elf_error("change a symbol"));
  }
  elf_flagdata(table.symbols, ELF_C_SET, ELF_F_DIRTY);
  return table.written();
}

}  // namespace tfaot::toolkit
