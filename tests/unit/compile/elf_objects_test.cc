// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/elf_objects.h"

#include <gelf.h>
#include <gtest/gtest.h>
#include <libelf.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>

namespace tfaot::toolkit {
namespace {

struct Section {
  GElf_Shdr header{};
  std::string bytes;
};

// Sections by name, read back by libelf.
struct ReadObject {
  GElf_Ehdr header{};
  std::map<std::string, Section> sections;
};

ReadObject read_object(std::string object) {
  ReadObject read;
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

TEST(MakeDataObject, HoldsTheBlobReadOnlyAndAligned) {
  const std::string blob("\0\1weights\xff", 10);
  const auto object = make_data_object(blob, {{"tfaot_test_weights"}}, "x86_64-unknown-linux-gnu");
  ASSERT_TRUE(object) << object.error().text();
  const auto read = read_object(*object);
  EXPECT_EQ(read.header.e_machine, EM_X86_64);
  EXPECT_EQ(read.header.e_type, ET_REL);
  const auto& data = read.sections.at(".rodata");
  EXPECT_EQ(data.bytes, blob);
  EXPECT_EQ(data.header.sh_addralign, 64U);
  EXPECT_EQ(data.header.sh_flags, static_cast<GElf_Xword>(SHF_ALLOC));
  EXPECT_EQ(read.sections.count(".note.GNU-stack"), 1U)
      << "the linker would make the stack executable";
}

TEST(MakeDataObject, GivesLargeBlobsPagesOfTheirOwn) {
  const auto object = make_data_object(std::string(4096, 'x'), {{"s"}}, "x86_64-linux");
  ASSERT_TRUE(object);
  EXPECT_EQ(read_object(*object).sections.at(".rodata").header.sh_addralign, 4096U);
}

TEST(MakeDataObject, DefinesOneGlobalObjectOfTheBlobsSize) {
  const auto object = make_data_object("12345", {{"name_of_it", 0, 5}}, "x86_64-linux");
  ASSERT_TRUE(object);
  const auto read = read_object(*object);
  const auto& bytes = read.sections.at(".symtab").bytes;
  ASSERT_EQ(bytes.size(), 2 * sizeof(Elf64_Sym));
  Elf64_Sym symbol{};
  std::memcpy(&symbol, bytes.data() + sizeof symbol, sizeof symbol);
  EXPECT_EQ(ELF64_ST_BIND(symbol.st_info), STB_GLOBAL);
  EXPECT_EQ(ELF64_ST_TYPE(symbol.st_info), STT_OBJECT);
  EXPECT_EQ(symbol.st_size, 5U);
  EXPECT_STREQ(read.sections.at(".strtab").bytes.data() + symbol.st_name, "name_of_it");
}

TEST(MakeDataObject, NamesPartsOfTheBlob) {
  const auto object =
      make_data_object("12345678", {{"all", 0, 8}, {"part", 4, 2, true, true}}, "x86_64-linux");
  ASSERT_TRUE(object);
  const auto read = read_object(*object);
  const auto& bytes = read.sections.at(".symtab").bytes;
  ASSERT_EQ(bytes.size(), 3 * sizeof(Elf64_Sym));
  Elf64_Sym part{};
  std::memcpy(&part, bytes.data() + 2 * sizeof part, sizeof part);
  EXPECT_EQ(part.st_value, 4U);
  EXPECT_EQ(part.st_size, 2U);
  EXPECT_EQ(ELF64_ST_VISIBILITY(part.st_other), STV_HIDDEN);
  EXPECT_EQ(ELF64_ST_BIND(part.st_info), STB_WEAK);
}

TEST(MakeDataObject, IsForTheTargetsMachine) {
  const auto object = make_data_object("x", {{"s"}}, "aarch64-unknown-linux-gnu");
  ASSERT_TRUE(object);
  EXPECT_EQ(read_object(*object).header.e_machine, EM_AARCH64);
}

TEST(MakeDataObject, SameInputSameBytes) {
  EXPECT_EQ(*make_data_object("abc", {{"s"}}, "x86_64-linux"),
            *make_data_object("abc", {{"s"}}, "x86_64-linux"));
}

TEST(RenameSymbol, ChangesTheNameAndMakesItWeak) {
  const std::string blob("\0\1weights\xff", 10);
  const std::string machine = "x86_64-linux";
  const auto object = make_data_object(blob, {{"old_name", 0, blob.size()}}, machine);
  const auto renamed = rename_symbol(*object, {"old_name", "a_longer_new_name"});
  ASSERT_TRUE(renamed) << renamed.error().text();
  auto before = read_object(*object);
  auto after = read_object(*renamed);
  EXPECT_EQ(after.sections.at(".rodata").bytes, blob);
  EXPECT_EQ(after.sections.at(".rodata").header.sh_addralign, 64U);
  Elf64_Sym symbol{};
  std::memcpy(&symbol, after.sections.at(".symtab").bytes.data() + sizeof symbol, sizeof symbol);
  EXPECT_EQ(symbol.st_size, blob.size());
  EXPECT_EQ(ELF64_ST_BIND(symbol.st_info), STB_WEAK);
  EXPECT_EQ(ELF64_ST_TYPE(symbol.st_info), STT_OBJECT);
  EXPECT_EQ(before.header.e_machine, after.header.e_machine);
  EXPECT_TRUE(rename_symbol(*renamed, {"a_longer_new_name", "b"}));
  EXPECT_FALSE(rename_symbol(*renamed, {"old_name", "b"}));
}

TEST(RenameSymbol, SameInputSameBytes) {
  const auto object = make_data_object("abc", {{"s"}}, "x86_64-linux");
  EXPECT_EQ(*rename_symbol(*object, {"s", "name"}), *rename_symbol(*object, {"s", "name"}));
}

TEST(RenameSymbol, OfWhatIsNoObject) { EXPECT_FALSE(rename_symbol("no object", {"a", "b"})); }

TEST(UndefinedSymbols, OfAnObjectWithoutAny) {
  const auto object = make_data_object("x", {{"s"}}, "x86_64-linux");
  const auto names = undefined_symbols(*object, {""});
  ASSERT_TRUE(names) << names.error().text();
  EXPECT_TRUE(names->empty());
}

TEST(UndefinedSymbols, OfWhatIsNoObject) {
  const auto names = undefined_symbols("not an object at all", {""});
  ASSERT_FALSE(names.has_value() && !names->empty());
}

}  // namespace
}  // namespace tfaot::toolkit
