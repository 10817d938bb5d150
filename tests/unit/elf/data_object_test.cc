// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/data_object.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/elf/parsed_object.h"

namespace tfaot::toolkit {
namespace {

TEST(MakeDataObject, HoldsTheBlobReadOnlyAndAligned) {
  const std::string blob("\0\1weights\xff", 10);
  const auto object = make_data_object(blob, {{"tfaot_test_weights"}}, "x86_64-unknown-linux-gnu");
  ASSERT_TRUE(object) << object.error().text();
  const auto read = testing::parsed(*object);
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
  EXPECT_EQ(testing::parsed(*object).sections.at(".rodata").header.sh_addralign, 4096U);
}

// Between code and its constants they would part the two by more than an instruction can say.
TEST(MakeDataObject, MarksWeightsOfHundredsOfMegabytes) {
  const auto flags = [](std::uint64_t size, const std::string& target) {
    const DataObjectFrame frame = data_object_frame(size, {{"s"}}, target);
    Elf64_Ehdr header{};
    std::memcpy(&header, frame.head.data(), sizeof header);
    Elf64_Shdr data{};
    const std::uint64_t tail = frame.head.size() + size;
    std::memcpy(&data, frame.tail.data() + (header.e_shoff - tail) + sizeof data, sizeof data);
    EXPECT_EQ(data.sh_size, size);
    return data.sh_flags;
  };
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 28;
  EXPECT_EQ(flags(kLarge - 1, "x86_64-linux"), static_cast<Elf64_Xword>(SHF_ALLOC));
  EXPECT_EQ(flags(kLarge, "x86_64-linux"), SHF_ALLOC | Elf64_Xword{0x10000000});
  EXPECT_EQ(flags(kLarge, "aarch64-linux"), static_cast<Elf64_Xword>(SHF_ALLOC));
}

TEST(MakeDataObject, DefinesOneGlobalObjectOfTheBlobsSize) {
  const auto object = make_data_object("12345", {{"name_of_it", 0, 5}}, "x86_64-linux");
  ASSERT_TRUE(object);
  const auto read = testing::parsed(*object);
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
  const auto read = testing::parsed(*object);
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
  EXPECT_EQ(testing::parsed(*object).header.e_machine, EM_AARCH64);
}

TEST(MakeDataObject, SameInputSameBytes) {
  EXPECT_EQ(*make_data_object("abc", {{"s"}}, "x86_64-linux"),
            *make_data_object("abc", {{"s"}}, "x86_64-linux"));
}

}  // namespace
}  // namespace tfaot::toolkit
