// SPDX-License-Identifier: Apache-2.0
// An object as libelf itself reads it, for tests of what writes one.
#pragma once

#include <gelf.h>
#include <gtest/gtest.h>
#include <libelf.h>

#include <map>
#include <memory>
#include <string>

namespace tfaot::toolkit::testing {

struct Section {
  GElf_Shdr header{};
  std::string bytes;
};

// Sections by name, read back by libelf.
struct ParsedObject {
  GElf_Ehdr header{};
  std::map<std::string, Section> sections;
};

inline ParsedObject parsed(std::string object) {
  ParsedObject read;
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(object.data(), object.size()), elf_end);
  EXPECT_NE(gelf_getehdr(elf.get(), &read.header), nullptr);
  std::size_t names = 0;
  EXPECT_EQ(elf_getshdrstrndx(elf.get(), &names), 0);
  for (Elf_Scn* s = elf_nextscn(elf.get(), nullptr); s != nullptr; s = elf_nextscn(elf.get(), s)) {
    Section section;
    gelf_getshdr(s, &section.header);
    const Elf_Data* data = elf_getdata(s, nullptr);
    if (data != nullptr && data->d_buf != nullptr) {
      section.bytes.assign(static_cast<const char*>(data->d_buf), data->d_size);
    }
    read.sections[elf_strptr(elf.get(), names, section.header.sh_name)] = section;
  }
  return read;
}

}  // namespace tfaot::toolkit::testing
