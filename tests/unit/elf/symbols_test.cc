// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/symbols.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/assembler.h"
#include "tests/unit/elf/parsed_object.h"
#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {
namespace {

TEST(RenameSymbol, ChangesTheNameAndMakesItWeak) {
  const std::string blob("\0\1weights\xff", 10);
  const std::string machine = "x86_64-linux";
  const auto object = make_data_object(blob, {{"old_name", 0, blob.size()}}, machine);
  const auto renamed = rename_symbol(*object, {"old_name", "a_longer_new_name"});
  ASSERT_TRUE(renamed) << renamed.error().text();
  auto before = testing::parsed(*object);
  auto after = testing::parsed(*renamed);
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

class RenameUndefined : public testing::AssemblerTest {};

TEST_F(RenameUndefined, ChangesCallsAlone) {
  const std::string object = assemble(
      ".globl probe\nprobe: call expf@PLT\ncall memcpy@PLT\ncall expf@PLT\ncall sin@PLT\nexp: ret");
  const auto renamed =
      rename_undefined(object, {{"expf", "a_longer_name"}, {"sin", "b"}, {"exp", "not_this"}});
  ASSERT_TRUE(renamed) << renamed.error().text();
  EXPECT_EQ(*undefined_symbols(*renamed, {""}),
            (std::vector<std::string>{"a_longer_name", "b", "memcpy"}));
  EXPECT_EQ(testing::parsed(*renamed).sections.at(".text").bytes,
            testing::parsed(object).sections.at(".text").bytes);
  EXPECT_EQ(*rename_undefined(object, {{"cos", "c"}}), object);
  // The calls go where the names say.
  const std::string functions = assemble(
      ".globl a_longer_name, b, untouched\na_longer_name: add $3, %rax\nret\nb: add $5, %rax\nret\n"
      "untouched: ret");
  const std::string caller = assemble(
      ".globl probe\nprobe: push %rbx\nxor %eax, %eax\ncall expf@PLT\ncall untouched@PLT\n"
      "call expf@PLT\ncall sin@PLT\npop %rbx\nret");
  EXPECT_EQ(
      run_probe({*rename_undefined(caller, {{"expf", "a_longer_name"}, {"sin", "b"}}), functions}),
      11);
}

TEST_F(RenameUndefined, OfWhatIsNoObject) {
  EXPECT_FALSE(rename_undefined("no object", {{"a", "b"}}));
}

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

// The bytes differ only in the symbol's binding.
TEST(Weakened, ChangesNothingElse) {
  const auto object = make_data_object("abc", {{"s"}}, "x86_64-linux");
  const auto weak = weakened(*object);
  ASSERT_TRUE(weak) << weak.error().text();
  EXPECT_EQ(*weak, *make_data_object("abc", {{"s", 0, 0, false, true}}, "x86_64-linux"));
}

}  // namespace
}  // namespace tfaot::toolkit
