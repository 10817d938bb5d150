// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/object_facts.h"

#include <algorithm>
#include <array>

#include "elf_file.h"

namespace tfaot::toolkit {
namespace {

// By type or, of older compilers, by name.
bool runs_by_itself(const ElfSection& section) {
  constexpr std::array<std::uint32_t, 3> kTypes = {SHT_INIT_ARRAY, SHT_FINI_ARRAY,
                                                   SHT_PREINIT_ARRAY};
  constexpr std::array<std::string_view, 6> kNames = {".init",  ".fini",  ".init_array",
                                                      ".ctors", ".dtors", ".fini_array"};
  return std::ranges::find(kTypes, section.header.sh_type) != kTypes.end() ||
         std::ranges::any_of(kNames, [&](std::string_view name) {
           return section.name == name || section.name.starts_with(std::string(name) + ".");
         });
}

// Empty if nothing speaks against it.
std::string finding_of(const ElfSection& section) {
  const auto flags = section.header.sh_flags;
  if ((flags & SHF_ALLOC) == 0 || section.header.sh_size == 0) return "";
  if (runs_by_itself(section)) return section.name + " runs code when it is loaded or unloaded";
  if ((flags & SHF_TLS) != 0) return section.name + " is memory of each thread";
  if ((flags & SHF_WRITE) == 0) return "";
  if ((flags & SHF_EXECINSTR) != 0) return section.name + " is code that can be written to";
  return section.name + " keeps values from call to call";
}

std::string finding_of(const ElfTables& tables, std::size_t symbol) {
  const auto type = GELF_ST_TYPE(tables.symbols[symbol].st_info);
  if (type == STT_GNU_IFUNC) {
    return "the function '" + tables.symbol_names[symbol] + "' is chosen when it is loaded";
  }
  if (type == STT_TLS) {
    return "the symbol '" + tables.symbol_names[symbol] + "' is memory of each thread";
  }
  return "";
}

}  // namespace

Result<ObjectFacts> object_facts(const FileSystem& fs, const Path& object) {
  ElfImage image;
  TFAOT_ASSIGN(const auto file, open_sections(fs, object, image));
  TFAOT_ASSIGN(ElfTables tables, read_sections(image));
  for (const ElfSection& section : tables.sections) {
    if (section.header.sh_type != SHT_SYMTAB && section.header.sh_type != SHT_STRTAB) continue;
    TFAOT_TRY(fill_from(*file, {section.header.sh_offset, section.header.sh_size}, image));
  }
  TFAOT_TRY(image.open());
  TFAOT_ASSIGN(tables, read_sections(image));  // with their names
  if (!tables.is_object || tables.sections.size() < 2) {
    return fail(Error("not a relocatable object for x86-64 or aarch64"));
  }
  TFAOT_TRY(read_symbols(image, tables));

  ObjectFacts facts;
  facts.machine = tables.machine == EM_AARCH64 ? "aarch64" : "x86_64";
  const auto add = [&facts](std::string finding) {
    if (!finding.empty()) facts.findings.push_back(std::move(finding));
  };
  for (const ElfSection& section : tables.sections) {
    facts.has_code = facts.has_code || (section.header.sh_flags & SHF_EXECINSTR) != 0;
    add(finding_of(section));
  }
  for (std::size_t i = 0; i < tables.symbols.size(); ++i) {
    add(finding_of(tables, i));
    const std::string& name = tables.symbol_names[i];
    if (name.empty() || name == kOffsetTable || !tables.is_global(i)) continue;
    (tables.is_undefined(i) ? facts.undefined : facts.defined).push_back(name);
  }
  std::ranges::sort(facts.undefined);
  std::ranges::sort(facts.defined);
  return facts;
}

}  // namespace tfaot::toolkit
