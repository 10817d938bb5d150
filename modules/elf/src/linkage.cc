// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/linkage.h"

#include <algorithm>

#include "elf_file.h"

namespace tfaot::toolkit {
namespace {

// Reads a part of the file for libelf.
Status fill_from(const OpenedFile& file, const ByteRange& part, const ElfImage& image) {
  TFAOT_ASSIGN(const std::string bytes, file.read_range(part));
  if (bytes.size() != part.size) return fail(Error("the file ends before its parts do"));
  return image.fill(part.offset, bytes);
}

Status read_section_headers(const OpenedFile& file, ElfImage& image) {
  TFAOT_TRY(fill_from(file, {0, sizeof(Elf64_Ehdr)}, image));
  TFAOT_TRY(image.open());
  GElf_Ehdr header{};
  if (gelf_getehdr(image.get(), &header) == nullptr) return fail(elf_error("read a header"));
  const std::uint64_t size = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  TFAOT_TRY(fill_from(file, {header.e_shoff, size}, image));
  return image.open();
}

// Only relocations of loaded sections count, not those of debug information.
bool is_of_loaded(const ElfSection& section, const ElfTables& tables) {
  const std::size_t target = section.header.sh_info;
  return section.header.sh_type == SHT_RELA && target < tables.sections.size() &&
         (tables.sections[target].header.sh_flags & SHF_ALLOC) != 0;
}

Result<Linkage> read_linkage(const FileSystem& fs, const Path& object) {
  TFAOT_ASSIGN(const auto file, fs.open(object));
  TFAOT_ASSIGN(const std::uint64_t size, file->size());
  ElfImage image;
  TFAOT_TRY(image.reserve(size));
  TFAOT_TRY(read_section_headers(*file, image));
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
