// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/linkage.h"

#include <algorithm>

#include "elf_file.h"

namespace tfaot::toolkit {
namespace {

// Only relocations of loaded sections count, not those of debug information.
bool is_of_loaded(const ElfSection& section, const ElfTables& tables) {
  const std::size_t target = section.header.sh_info;
  return section.header.sh_type == SHT_RELA && target < tables.sections.size() &&
         (tables.sections[target].header.sh_flags & SHF_ALLOC) != 0;
}

Result<Linkage> read_linkage(const FileSystem& fs, const Path& object) {
  ElfImage image;
  TFAOT_ASSIGN(const auto file, open_sections(fs, object, image));
  TFAOT_ASSIGN(ElfTables tables, read_sections(image));
  if (!tables.is_object) return Linkage::kUnknown;
  for (std::size_t i = 1; i < tables.sections.size(); ++i) {
    const GElf_Shdr& header = tables.sections[i].header;
    if (!is_of_loaded(tables.sections[i], tables)) continue;
    TFAOT_TRY(fill_from(*file, {header.sh_offset, header.sh_size}, image));
    TFAOT_TRY(read_relocations(i, tables));
  }
  const bool is_dependent =
      std::ranges::any_of(tables.relocations, [&tables](const ElfRelocation& relocation) {
        return is_position_dependent(tables.machine, relocation.type());
      });
  return is_dependent ? Linkage::kPositionDependent : Linkage::kPositionIndependent;
}

}  // namespace

Linkage linkage_of(const FileSystem& fs, const Path& object) {
  return read_linkage(fs, object).value_or(Linkage::kUnknown);
}

Result<std::string> run_path(const std::string& program) {
  ElfImage image;
  TFAOT_TRY(image.read(program));
  TFAOT_ASSIGN(const ElfTables tables, read_sections(image));
  for (const ElfSection& section : tables.sections) {
    if (section.header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* data = elf_getdata(section.handle, nullptr);
    GElf_Dyn entry{};
    for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      if (entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH) continue;
      const char* folders = elf_strptr(image.get(), section.header.sh_link, entry.d_un.d_val);
      return folders == nullptr ? std::string() : std::string(folders);
    }
    return std::string();
  }
  return fail(Error("not a program that loads libraries"));
}

}  // namespace tfaot::toolkit
