// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/run_path.h"

#include "elf_tables.h"

namespace tfaot::toolkit {

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
