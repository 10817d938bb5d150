// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/instruction_check.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What is found in instructions that objdump shows like this, one a line.
std::vector<std::string> found_in(const std::string& machine,
                                  const std::vector<std::string>& lines) {
  InstructionReader reader(machine);
  reader.read("source.o:     file format elf64");
  reader.read("");
  reader.read("0000000000000000 <entry>:");
  for (const std::string& line : lines) {
    reader.read(line.starts_with("R_") ? "\t\t\t2: " + line : "   0:\t" + line);
  }
  std::vector<std::string> texts;
  for (const FoundInstruction& found : reader.result().found) {
    EXPECT_EQ(found.function, "entry");
    texts.push_back(found.what);
  }
  return texts;
}

TEST(InstructionCheck, ArithmeticIsFine) {
  EXPECT_THAT(found_in("x86_64", {"vfmadd231ps (%rax),%zmm1,%zmm2", "lea    0x0(%rip),%rdi",
                                  "R_X86_64_PC32\t.rodata-0x4", "call   9 <entry+0x9>",
                                  "R_X86_64_PLT32\texpf-0x4", "call   *0x0(%rip)        # 10 <f>",
                                  "R_X86_64_GOTPCRELX\texpf-0x4", "rep stos %al,%es:(%rdi)",
                                  "xchg   %ax,%ax", "cs nopw 0x0(%rax,%rax,1)", "data16", "ud2",
                                  "notrack jmp *%rax", "insertps $0x10,%xmm1,%xmm0", "ret"}),
              IsEmpty());
  EXPECT_THAT(found_in("aarch64", {"fmla   v0.4s, v1.4s, v2.4s", "adrp   x8, 0 <entry>",
                                   "R_AARCH64_ADR_PREL_PG_HI21\t.rodata", "bl     0 <expf>",
                                   "R_AARCH64_CALL26\texpf", "br     x8", "ldr    q0, [x0]", "nop",
                                   "brk    #0x1", "ret"}),
              IsEmpty());
}

TEST(InstructionCheck, OnX86) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"syscall", "a system call"},
      {"int    $0x80", "a system call"},
      {"int3", "a system call"},
      {"in     (%dx),%al", "input or output"},
      {"rdtsc", "a clock"},
      {"rdtscp", "a clock"},
      {"cpuid", "a question about the processor"},
      {"rdrand %eax", "a random number"},
      {"xbegin 7 <entry+0x7>", "a transaction"},
      {"vldmxcsr -0x4(%rsp)", "a change of the processor's state"},
      {"lock xadd %eax,(%rdi)", "a lock"},
      {"lock", "a lock"},
      {"xchg   %eax,(%rdi)", "a lock"},
      {"mov    %fs:0x0,%rax", "memory of the thread"},
      {"(bad)", "no instruction"},
      {"call   *%rax", "a call of any address"},
      {"call   *0x8(%rdi)", "a call of any address"},
      {"jmp    *0x8(%rdi)", "a call of any address"}};
  for (const auto& [text, what] : bad) {
    EXPECT_THAT(found_in("x86_64", {text}), ElementsAre(what)) << text;
    EXPECT_THAT(found_in("x86_64", {text, "ret"}), ElementsAre(what)) << text;
  }
  // A table of addresses is no symbol.
  EXPECT_THAT(found_in("x86_64", {"call   *0x0(,%rax,8)", "R_X86_64_32S\t.rodata", "ret"}),
              ElementsAre("a call of any address"));
}

TEST(InstructionCheck, OnAarch64) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"svc    #0x0", "a system call"},
      {"mrs    x0, cntvct_el0", "a clock or a question about the processor"},
      {"mrs    x0, tpidr_el0", "a clock or a question about the processor"},
      {"msr    fpcr, x0", "a change of the processor's state"},
      {"ldaxr  w1, [x0]", "a lock"},
      {"ldaddal w1, w2, [x0]", "a lock"},
      {"casal  w1, w2, [x0]", "a lock"},
      {".inst  0x00000000 ; undefined", "no instruction"},
      {"blr    x8", "a call of any address"}};
  for (const auto& [text, what] : bad) {
    EXPECT_THAT(found_in("aarch64", {text}), ElementsAre(what)) << text;
  }
}

TEST(InstructionCheck, NamesTheFunctionAndTheInstruction) {
  InstructionReader reader("x86_64");
  reader.read("0000000000000000 <first>:");
  reader.read("   0:\tret");
  reader.read("0000000000000010 <second>:");
  reader.read("  10:\tlock cmpxchg %ecx,(%rdx)");
  const InstructionCheck check = reader.result();
  EXPECT_EQ(check.instructions, 2U);
  ASSERT_EQ(check.found.size(), 1U);
  EXPECT_EQ(check.found[0].function, "second");
  EXPECT_EQ(check.found[0].text, "lock cmpxchg %ecx,(%rdx)");
}

TEST(InstructionCheck, WithoutADisassembler) {
  const auto check = check_instructions("/x.o", "x86_64", "no-such-objdump");
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().message(), "'no-such-objdump' cannot be started");
}

}  // namespace
}  // namespace tfaot::toolkit
