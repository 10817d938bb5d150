// SPDX-License-Identifier: Apache-2.0
#include "toolfile/object_code.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

namespace tfaot::toolkit {
namespace {

// `count` records from `offset` on; none when the file does not hold them.
template <class T>
std::vector<T> records_at(const FileSystem& fs, const Path& file, std::uint64_t offset,
                          std::size_t count) {
  const auto bytes = fs.read_range(file, {offset, count * sizeof(T)});
  if (!bytes || bytes->size() != count * sizeof(T)) return {};
  std::vector<T> records(count);
  if (count > 0) std::memcpy(records.data(), bytes->data(), bytes->size());
  return records;
}

bool is_x86_object(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_REL &&
         header.e_machine == EM_X86_64 && header.e_shentsize == sizeof(Elf64_Shdr);
}

bool is_absolute(const Elf64_Rela& relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_X86_64_32 || type == R_X86_64_32S;
}

// Relocations of what is loaded; those of debug information do not count.
bool is_of_loaded(const Elf64_Shdr& section, const std::vector<Elf64_Shdr>& sections) {
  return section.sh_type == SHT_RELA && section.sh_info < sections.size() &&
         (sections[section.sh_info].sh_flags & SHF_ALLOC) != 0;
}

}  // namespace

Linkage linkage_of(const FileSystem& fs, const Path& object) {
  const auto headers = records_at<Elf64_Ehdr>(fs, object, 0, 1);
  if (headers.empty() || !is_x86_object(headers.front())) return Linkage::kUnknown;
  const auto sections =
      records_at<Elf64_Shdr>(fs, object, headers.front().e_shoff, headers.front().e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (!is_of_loaded(section, sections)) continue;
    for (const Elf64_Rela& relocation : records_at<Elf64_Rela>(
             fs, object, section.sh_offset, section.sh_size / sizeof(Elf64_Rela))) {
      if (is_absolute(relocation)) return Linkage::kPositionDependent;
    }
  }
  return Linkage::kPositionIndependent;
}

}  // namespace tfaot::toolkit
