// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/constants.h"

#include <gmock/gmock.h>

#include "tests/support/assembler.h"

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;

// Three numbers as constants; then the code.
constexpr const char* kConstants = R"(
  .section .note.GNU-stack,"",@progbits
  .section .rodata,"a",@progbits
  .balign 16
first:
  .quad 11, 22, 33
second:
  .quad 44
  .text
  .globl probe
)";

struct MovedObject {
  std::string object;
  std::string constants;  // the object that holds them
};

class ConstantsTest : public testing::AssemblerTest {
 protected:
  std::string reason(const std::string& source) {
    const auto found = find_constants(assemble(source));
    EXPECT_TRUE(found) << found.error().text();
    EXPECT_TRUE(found->sections.empty());
    return found->why_whole;
  }

  // The constants of an object after others, so that they do not start at the beginning.
  static MovedObject moved(const std::string& object) {
    const auto found = find_constants(object);
    EXPECT_TRUE(found && found->why_whole.empty()) << (found ? found->why_whole : "no object");
    SharedConstants shared("shared");
    shared.add(std::string(100, 'x'));
    std::vector<MovedSection> sections;
    for (const ConstantSection& section : found->sections) {
      sections.push_back({section.section, shared.add(section.bytes)});
    }
    const auto changed = move_constants(object, sections);
    EXPECT_TRUE(changed) << changed.error().text();
    const auto data = make_data_object(shared.blob(), shared.symbols(), found->machine);
    return {changed.value_or(""), data.value_or("")};
  }

  // The code still finds what it found before.
  void expect_same(const std::string& code, std::int64_t value) {
    SCOPED_TRACE(code);
    const std::string object = assemble(kConstants + code);
    EXPECT_EQ(run_probe({object}), value);
    const MovedObject both = moved(object);
    EXPECT_EQ(run_probe({both.object, both.constants}), value);
    EXPECT_EQ(run_probe({both.constants, both.object}), value);
    EXPECT_THAT(both.object, ::testing::Not(HasSubstr(std::string("\x16\0\0\0\0\0\0\0\x21", 9))));
  }
};

#if defined(__x86_64__)

TEST_F(ConstantsTest, RelativeAddresses) {
  expect_same("probe: mov 8+.rodata(%rip), %rax\n ret", 22);
  expect_same("probe: lea first(%rip), %rcx\n mov 16(%rcx), %rax\n ret", 33);
  expect_same("probe: mov second(%rip), %rax\n ret", 44);
  // A number after the address: the addend is different.
  expect_same("probe: cmpq $33, 16+.rodata(%rip)\n sete %al\n movzx %al, %eax\n ret", 1);
}

TEST_F(ConstantsTest, AddressesInATableOfAddresses) {
  expect_same("probe: mov first@GOTPCREL(%rip), %rcx\n mov (%rcx), %rax\n ret", 11);
  expect_same("probe: mov first@GOTPCREL(%rip), %rcx\n mov 8(%rcx), %rax\n ret", 22);
}

TEST_F(ConstantsTest, AbsoluteAddressesInData) {
  expect_same(
      "probe: mov pointer(%rip), %rcx\n mov (%rcx), %rax\n ret\n"
      ".data\npointer: .quad second",
      44);
}

TEST_F(ConstantsTest, LongDistances) {
  expect_same(
      "probe: lea here(%rip), %rcx\nhere: movabs $(second-here), %rax\n"
      " mov (%rcx,%rax), %rax\n ret",
      44);
  expect_same(
      "probe: lea _GLOBAL_OFFSET_TABLE_(%rip), %rcx\n movabs $second@GOTOFF, %rax\n"
      " mov (%rcx,%rax), %rax\n ret",
      44);
}

TEST_F(ConstantsTest, SeveralSectionsOfConstants) {
  expect_same(
      "probe: mov 8+.rodata(%rip), %rax\n add more(%rip), %rax\n ret\n"
      ".section .rodata.more,\"a\",@progbits\nmore: .quad 100",
      122);
}

TEST_F(ConstantsTest, MergedConstantsStay) {
  const std::string object = assemble(
      ".text\n.globl probe\nprobe: mov one(%rip), %rax\n ret\n"
      ".section .rodata.cst8,\"aM\",@progbits,8\none: .quad 7");
  const auto found = find_constants(object);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->sections.empty());
  EXPECT_EQ(found->why_whole, "");
}

TEST_F(ConstantsTest, UnexpectedLayoutsStayWhole) {
  EXPECT_EQ(reason(std::string(kConstants) + "probe: ret\n.section .rodata\n.long probe - ."),
            ".rodata holds addresses, perhaps a jump table");
  EXPECT_EQ(reason(std::string(kConstants) + "probe: ret\n.globl first"),
            ".rodata defines 'first' for other objects");
  EXPECT_EQ(reason(std::string(kConstants) + "probe: mov second@GOTPCREL(%rip), %rcx\n ret"),
            "the code reaches the middle of .rodata by a table of addresses");
  EXPECT_EQ(reason(std::string(kConstants) + "probe: .word .rodata\n ret"),
            "the code reaches .rodata by relocations of type 12");
  EXPECT_EQ(reason(".section .rodata\n.balign 128\nfirst: .quad 1\n.text\nprobe: ret"),
            ".rodata needs 128 bytes of alignment");
}

TEST_F(ConstantsTest, PositionDependentCodeIsSaid) {
  EXPECT_TRUE(find_constants(assemble(std::string(kConstants) + "probe: mov first, %eax\n ret"))
                  ->position_dependent);
  EXPECT_FALSE(
      find_constants(assemble(std::string(kConstants) + "probe: mov first(%rip), %eax\n ret"))
          ->position_dependent);
}

TEST_F(ConstantsTest, TheCodeIsNotTouched) {
  const std::string code = "probe: mov 8+.rodata(%rip), %rax\n imul $1234567, %rax, %rax\n ret";
  const std::string object = assemble(kConstants + code);
  const std::string number("\x87\xd6\x12\x00", 4);
  const auto text = object.find(number);
  ASSERT_NE(text, std::string::npos);
  EXPECT_THAT(moved(object).object, HasSubstr(object.substr(text - 10, 15)));
}

TEST_F(ConstantsTest, SameInputSameBytes) {
  const std::string object = assemble(kConstants + std::string("probe: ret"));
  EXPECT_EQ(moved(object).object, moved(object).object);
}

#endif

TEST(FindConstants, OfWhatIsNoObject) {
  EXPECT_FALSE(find_constants("no object"));
  EXPECT_FALSE(find_constants(""));
}

TEST(SharedConstants, EqualOnesAreStoredOnce) {
  SharedConstants shared("s");
  EXPECT_EQ(shared.add("abc"), "s_0");
  EXPECT_EQ(shared.add("other"), "s_1");
  EXPECT_EQ(shared.add("abc"), "s_0");
  ASSERT_EQ(shared.symbols().size(), 2U);
  EXPECT_EQ(shared.symbols()[1].offset, 64U);
  EXPECT_EQ(shared.blob().substr(64), "other");
  EXPECT_TRUE(shared.symbols()[1].is_hidden);
}

}  // namespace
}  // namespace tfaot::toolkit
