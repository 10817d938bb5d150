// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "elf_tables.h"
#include "tfaot/elf/constants.h"

namespace tfaot::toolkit {
namespace {

// Appends the names of new symbols to the existing ones.
class NewNames {
 public:
  explicit NewNames(std::uint64_t old_size) : old_size_(old_size) {}
  GElf_Word add(const std::string& name) {
    const auto offset = static_cast<GElf_Word>(old_size_ + bytes_.size());
    bytes_.append(name).push_back('\0');
    return offset;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::uint64_t old_size_;
  std::string bytes_;
};

// Keeps the section in its place, so that no index changes.
Status empty(const ElfSection& section) {
  Elf_Data* data = elf_getdata(section.handle, nullptr);
  if (data == nullptr) return fail(elf_error("empty a section"));
  data->d_size = 0;  // with a null d_buf libelf would write the old bytes again
  elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
  return {};
}

// Redirects relocations against the sections to the new symbols; the map is section -> position in
// the symbol table.
Status turn_relocations(const ElfTables& tables,
                        const std::map<std::size_t, std::size_t>& symbols) {
  for (const ElfRelocation& relocation : tables.relocations) {
    const GElf_Sym& old = tables.symbols[relocation.symbol()];
    const auto found = symbols.find(old.st_shndx);
    if (found == symbols.end()) continue;
    GElf_Rela entry = relocation.entry;
    entry.r_info = GELF_R_INFO(static_cast<GElf_Xword>(found->second), relocation.type());
    entry.r_addend += static_cast<GElf_Sxword>(old.st_value);
    TFAOT_TRY(change_relocation(tables, relocation, entry));
  }
  return {};
}

// Nothing is left at the places these symbols point to.
Status reset_symbols(const ElfTables& tables, const std::map<std::size_t, std::size_t>& moved) {
  for (std::size_t i = 1; i < tables.symbols.size(); ++i) {
    GElf_Sym symbol = tables.symbols[i];
    if (!moved.contains(symbol.st_shndx)) continue;
    symbol.st_value = 0;
    symbol.st_size = 0;
    TFAOT_TRY(change_symbol(tables, i, symbol));
  }
  return {};
}

}  // namespace

Result<std::string> move_constants(const std::string& object,
                                   const std::vector<MovedSection>& moved) {
  ElfImage image;
  TFAOT_TRY(image.change(object));
  TFAOT_ASSIGN(const ElfTables tables, read_object(image));
  const ElfSection& table = tables.sections[tables.symbol_table];
  const ElfSection& strings = tables.sections.at(table.header.sh_link);
  NewNames names(strings.header.sh_size);
  std::vector<Elf64_Sym> added;
  std::map<std::size_t, std::size_t> symbols;
  for (const MovedSection& one : moved) {
    symbols[one.section] = tables.symbols.size() + added.size();
    Elf64_Sym& symbol = added.emplace_back();
    symbol.st_name = names.add(one.symbol);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    symbol.st_other = STV_HIDDEN;
    symbol.st_shndx = SHN_UNDEF;
  }
  TFAOT_TRY(turn_relocations(tables, symbols));
  TFAOT_TRY(reset_symbols(tables, symbols));
  for (const MovedSection& one : moved) TFAOT_TRY(empty(tables.sections.at(one.section)));
  TFAOT_TRY(append(strings, names.bytes().data(), names.bytes().size(), ELF_T_BYTE));
  TFAOT_TRY(append(table, added.data(), added.size() * sizeof(Elf64_Sym), ELF_T_SYM));
  return image.written();
}

}  // namespace tfaot::toolkit
