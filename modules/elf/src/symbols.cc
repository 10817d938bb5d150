// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/symbols.h"

#include <algorithm>
#include <set>
#include <span>

#include "elf_file.h"

namespace tfaot::toolkit {
namespace {

using Prefixes = std::vector<std::string_view>;

bool starts_with_one_of(const Prefixes& prefixes, std::string_view name) {
  return std::ranges::any_of(prefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::string> each_once(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<ElfTables> read_names(const ElfImage& image) {
  TFAOT_ASSIGN(ElfTables tables, read_sections(image));
  TFAOT_TRY(read_symbols(image, tables));
  return tables;
}

Status make_weak(const ElfTables& tables, std::size_t position, GElf_Sym symbol) {
  symbol.st_info = GELF_ST_INFO(STB_WEAK, GELF_ST_TYPE(symbol.st_info));
  return change_symbol(tables, position, symbol);
}

}  // namespace

Result<std::vector<std::string>> undefined_symbols(const std::string& object,
                                                   const Prefixes& prefixes) {
  ElfImage image;
  TFAOT_TRY(image.read(object));
  TFAOT_ASSIGN(const ElfTables tables, read_names(image));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tables.symbols.size(); ++i) {
    const std::string& name = tables.symbol_names[i];
    if (name.empty() || name == kOffsetTable || !tables.is_undefined(i)) continue;
    if (starts_with_one_of(prefixes, name)) names.push_back(name);
  }
  return each_once(std::move(names));
}

Result<std::vector<std::string>> archive_symbols(const FileSystem& fs, const Path& archive,
                                                 const Prefixes& prefixes,
                                                 std::string_view left_out) {
  TFAOT_ASSIGN(std::string bytes, fs.read(archive));
  ElfImage image;
  const bool is_open = image.read(std::move(bytes)).has_value();
  std::size_t count = 0;
  const Elf_Arsym* symbols = is_open ? elf_getarsym(image.get(), &count) : nullptr;
  if (symbols == nullptr) {
    return fail(Error::at({archive.string()}, "not an archive with an index of symbols"));
  }
  const std::span<const Elf_Arsym> all(symbols, count - 1);  // the last one has no name
  std::set<decltype(Elf_Arsym::as_off)> other_members;
  for (const Elf_Arsym& symbol : all) {
    if (std::string_view(symbol.as_name).starts_with(left_out)) other_members.insert(symbol.as_off);
  }
  std::vector<std::string> names;
  for (const Elf_Arsym& symbol : all) {
    const bool counts = !other_members.contains(symbol.as_off);
    if (counts && starts_with_one_of(prefixes, symbol.as_name)) names.emplace_back(symbol.as_name);
  }
  return each_once(std::move(names));
}

Result<std::string> rename_symbol(const std::string& object, const SymbolRenaming& names) {
  ElfImage image;
  TFAOT_TRY(image.change(object));
  TFAOT_ASSIGN(const ElfTables tables, read_names(image));
  std::string name = names.to;
  for (std::size_t i = 0; i < tables.symbols.size(); ++i) {
    if (tables.is_undefined(i) || tables.symbol_names[i] != names.from) continue;
    const std::size_t strings = tables.sections[tables.symbol_table].header.sh_link;
    if (strings >= tables.sections.size()) return fail(elf_error("read the names of symbols"));
    GElf_Sym symbol = tables.symbols[i];
    symbol.st_name = static_cast<GElf_Word>(tables.sections[strings].header.sh_size);
    // The terminating null counts as a character.
    TFAOT_TRY(append(tables.sections[strings], name.data(), name.size() + 1, ELF_T_BYTE));
    TFAOT_TRY(make_weak(tables, i, symbol));
    return image.written();
  }
  return fail(Error::internal(fmt::format("an object defines no symbol '{}'", names.from)));
}

Result<std::string> rename_undefined(const std::string& object, const SymbolNames& names) {
  ElfImage image;
  TFAOT_TRY(image.change(object));
  TFAOT_ASSIGN(const ElfTables tables, read_names(image));
  if (tables.symbol_table == 0) return object;
  const std::size_t strings = tables.sections[tables.symbol_table].header.sh_link;
  if (strings >= tables.sections.size()) return fail(elf_error("read the names of symbols"));
  const ElfSection& section = tables.sections[strings];
  std::string added;
  for (std::size_t i = 0; i < tables.symbols.size(); ++i) {
    if (!tables.is_undefined(i)) continue;
    const auto found = names.find(tables.symbol_names[i]);
    if (found == names.end()) continue;
    GElf_Sym symbol = tables.symbols[i];
    symbol.st_name = static_cast<GElf_Word>(section.header.sh_size + added.size());
    TFAOT_TRY(change_symbol(tables, i, symbol));
    added.append(found->second).push_back('\0');
  }
  if (added.empty()) return object;
  TFAOT_TRY(append(section, added.data(), added.size(), ELF_T_BYTE));
  return image.written();
}

Result<std::string> weakened(const std::string& object) {
  ElfImage image;
  TFAOT_TRY(image.change(object));
  TFAOT_ASSIGN(const ElfTables tables, read_names(image));
  elf_flagelf(image.get(), ELF_C_SET, ELF_F_LAYOUT);  // keep the layout
  for (std::size_t i = 0; i < tables.symbols.size(); ++i) {
    const GElf_Sym& symbol = tables.symbols[i];
    if (tables.is_undefined(i) || GELF_ST_BIND(symbol.st_info) != STB_GLOBAL) continue;
    TFAOT_TRY(make_weak(tables, i, symbol));
  }
  return image.written();
}

}  // namespace tfaot::toolkit
