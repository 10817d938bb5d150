// SPDX-License-Identifier: Apache-2.0
// The same for aarch64: assembled and linked by Debian's cross compiler, run by qemu-user.
#include <gtest/gtest.h>

#include "tests/support/assembler.h"
#include "tfaot/elf/constants.h"

namespace tfaot::toolkit {
namespace {

class Aarch64Test : public testing::AssemblerTest {
 protected:
  int run(const std::string& program, const std::vector<std::string>& arguments) {
    ProcessSpec process;
    process.program = program;
    process.arguments = arguments;
    process.working_directory = folder_;
    const auto result = run_process(process);
    EXPECT_TRUE(result) << result.error().text();
    return result ? result->exit_code : -1;
  }
  // What a program of these objects ends with.
  int exit_code_of(const std::vector<std::string>& objects) {
    std::vector<std::string> arguments = {"-nostdlib", "-static", "-o", "program"};
    for (const std::string& object : objects) {
      arguments.push_back(std::to_string(arguments.size()) + ".o");
      EXPECT_TRUE(files_.replace_atomically(folder_ / arguments.back(), object));
    }
    EXPECT_EQ(run(TFAOT_AARCH64_COMPILER, arguments), 0);
    return run(TFAOT_QEMU_AARCH64, {"./program"});
  }
};

TEST_F(Aarch64Test, TheCodeGoesOnToFindItsConstants) {
  if (std::string(TFAOT_AARCH64_COMPILER).empty() || std::string(TFAOT_QEMU_AARCH64).empty()) {
    GTEST_SKIP() << "there is no cross compiler, or no qemu-aarch64";
  }
  for (const std::string code :
       {"adrp x1, .rodata+8\n ldr x0, [x1, :lo12:.rodata+8]",
        "adrp x1, .rodata+8\n add x1, x1, :lo12:.rodata+8\n ldr x0, [x1]",
        "adrp x1, .rodata\n ldr q0, [x1, :lo12:.rodata]\n mov x0, v0.d[1]",
        "adrp x1, :got:first\n ldr x1, [x1, :got_lo12:first]\n ldr x0, [x1, #8]"}) {
    SCOPED_TRACE(code);
    const std::string source = ".section .rodata\n.balign 16\nfirst: .quad 11, 22, 33\n.text\n" +
                               std::string(".globl _start\n_start: ") + code +
                               "\n mov x8, #93\n svc #0\n";
    ASSERT_TRUE(files_.replace_atomically(folder_ / "source.s", source));
    ASSERT_EQ(run(TFAOT_AARCH64_COMPILER, {"-c", "source.s", "-o", "source.o"}), 0);
    const std::string object = files_.read(folder_ / "source.o").value();
    EXPECT_EQ(exit_code_of({object}), 22);

    const auto found = find_constants(object);
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_EQ(found->why_whole, "");
    ASSERT_EQ(found->sections.size(), 1U);
    EXPECT_EQ(found->machine, "aarch64");
    SharedConstants shared("shared");
    shared.add(std::string(100, 'x'));
    const std::string symbol = shared.add(found->sections[0].bytes);
    const auto moved = move_constants(object, {{found->sections[0].section, symbol}});
    ASSERT_TRUE(moved) << moved.error().text();
    EXPECT_EQ(
        exit_code_of({*moved, *make_data_object(shared.blob(), shared.symbols(), "aarch64-linux")}),
        22);
  }
}

}  // namespace
}  // namespace tfaot::toolkit
