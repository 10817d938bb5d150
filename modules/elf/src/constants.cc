// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "elf_file.h"
#include "tfaot/base/hash.h"

namespace tfaot::toolkit {
namespace {

// Linkers merge sections with SHF_MERGE (.rodata.cst16). They are small, so they stay.
bool holds_constants(const ElfSection& section) {
  return section.name.starts_with(".rodata") && section.header.sh_type == SHT_PROGBITS &&
         section.header.sh_flags == SHF_ALLOC && section.header.sh_size > 0;
}

// The alignment of the object that they would move to, whatever its size.
constexpr std::uint64_t kLargestAlignment = 64;

// Why references to a section cannot be redirected to a symbol of another object; empty if they
// can.
std::string problem_of(const ElfTables& tables, std::size_t section) {
  const std::string& name = tables.sections[section].name;
  const std::uint64_t alignment = tables.sections[section].header.sh_addralign;
  if (alignment > kLargestAlignment)
    return fmt::format("{} needs {} bytes of alignment", name, alignment);
  for (std::size_t i = 1; i < tables.symbols.size(); ++i) {
    if (tables.symbols[i].st_shndx == section && tables.is_global(i)) {
      return fmt::format("{} defines '{}' for other objects", name, tables.symbol_names[i]);
    }
  }
  for (const ElfRelocation& relocation : tables.relocations) {
    if (relocation.target == section) return name + " holds addresses, perhaps a jump table";
    const GElf_Sym& symbol = tables.symbols[relocation.symbol()];
    if (symbol.st_shndx != section) continue;
    const auto use = relocation_use(tables.machine, relocation.type());
    if (!use) {
      return fmt::format("the code reaches {} by relocations of type {}", name, relocation.type());
    }
    // The slot would hold the address of the symbol itself.
    if (use == RelocationUse::kSlot && symbol.st_value != 0) {
      return fmt::format("the code reaches the middle of {} by a table of addresses", name);
    }
  }
  return "";
}

// The same for the object as a whole.
std::string problem_of(const ElfTables& tables) {
  if (tables.has_plain_relocations) return "its relocations have no addends";
  if (tables.has_many_sections) return "it has too many sections";
  if (tables.symbol_table == 0) return "it has no symbols";
  return "";
}

Result<std::string> bytes_of(const ElfSection& section) {
  const Elf_Data* data = elf_getdata(section.handle, nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_size != section.header.sh_size) {
    return fail(elf_error("read constants"));
  }
  return std::string(static_cast<const char*>(data->d_buf), data->d_size);
}

// The largest alignment that find_constants() accepts.
constexpr std::size_t kBlobAlignment = 64;

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

Result<ObjectConstants> find_constants(const std::string& object) {
  ElfImage image;
  TFAOT_TRY(image.read(object));
  TFAOT_ASSIGN(const ElfTables tables, read_object(image));
  ObjectConstants constants;
  constants.machine = tables.machine == EM_AARCH64 ? "aarch64" : "x86_64";
  constants.position_dependent = std::any_of(
      tables.relocations.begin(), tables.relocations.end(), [&](const ElfRelocation& relocation) {
        return is_position_dependent(tables.machine, relocation.type());
      });
  for (std::size_t i = 1; i < tables.symbols.size(); ++i) {
    const auto type = GELF_ST_TYPE(tables.symbols[i].st_info);
    if (tables.is_global(i) && type == STT_FUNC && !tables.is_undefined(i)) {
      constants.functions.push_back(tables.symbol_names[i]);
    }
  }
  constants.why_whole = problem_of(tables);
  for (std::size_t i = 1; i < tables.sections.size() && constants.why_whole.empty(); ++i) {
    const ElfSection& section = tables.sections[i];
    if (!holds_constants(section)) continue;
    constants.why_whole = problem_of(tables, i);
    TFAOT_ASSIGN(std::string bytes, bytes_of(section));
    constants.sections.push_back({i, std::move(bytes)});
  }
  if (!constants.why_whole.empty()) constants.sections.clear();
  return constants;
}

std::string SharedConstants::add(const std::string& bytes) {
  const auto [found, is_new] = known_.try_emplace(sha256_of(bytes), symbols_.size());
  if (!is_new) return symbols_[found->second].name;
  blob_.resize((blob_.size() + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment);
  symbols_.push_back(
      {fmt::format("{}_{}", prefix_, symbols_.size()), blob_.size(), bytes.size(), true});
  blob_.append(bytes);
  return symbols_.back().name;
}

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
