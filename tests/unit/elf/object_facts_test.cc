// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/object_facts.h"

#include <gmock/gmock.h>

#include "tests/support/assembler.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ObjectFactsTest : public testing::AssemblerTest {
 protected:
  ObjectFacts facts(const std::string& source) {
    assemble(source);
    const auto read = object_facts(files_, folder_ / "source.o");
    EXPECT_TRUE(read) << (read ? "" : read.error().text());
    return read.value_or(ObjectFacts());
  }
};

TEST_F(ObjectFactsTest, OfCode) {
  const ObjectFacts read = facts(R"(
    .text
    .globl entry
entry:
    call    expf@PLT
    mov     weights@GOTPCREL(%rip), %rax
    ret
    .section .rodata
    .long   1
)");
  EXPECT_EQ(read.machine, "x86_64");
  EXPECT_TRUE(read.has_code);
  EXPECT_THAT(read.undefined, ElementsAre("expf", "weights"));
  EXPECT_THAT(read.defined, ElementsAre("entry"));
  EXPECT_THAT(read.findings, IsEmpty());
}

TEST_F(ObjectFactsTest, OfData) {
  for (const std::string triple : {"x86_64-linux", "aarch64-linux"}) {
    const testing::MemoryFileSystem fs({{"/x.o", *make_data_object("weights", {{"w"}}, triple)}});
    const auto read = object_facts(fs, "/x.o");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->machine + "-linux", triple);
    EXPECT_FALSE(read->has_code);
    EXPECT_THAT(read->undefined, IsEmpty());
    EXPECT_THAT(read->defined, ElementsAre("w"));
    EXPECT_THAT(read->findings, IsEmpty());
  }
}

TEST_F(ObjectFactsTest, FindWhatRunsOrKeepsSomethingByItself) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {".section .init_array,\"aw\",@init_array\n.quad 0",
       ".init_array runs code when it is loaded or unloaded"},
      {".section .fini_array.7,\"aw\",@fini_array\n.quad 0",
       ".fini_array.7 runs code when it is loaded or unloaded"},
      {".section .ctors,\"aw\",@progbits\n.quad 0",
       ".ctors runs code when it is loaded or unloaded"},
      {".section .init,\"ax\",@progbits\nret", ".init runs code when it is loaded or unloaded"},
      {".data\n.quad 0", ".data keeps values from call to call"},
      {".bss\n.zero 8", ".bss keeps values from call to call"},
      {".section .tbss,\"awT\",@nobits\n.zero 8", ".tbss is memory of each thread"},
      {".section .both,\"awx\",@progbits\nret", ".both is code that can be written to"},
      {".text\n.globl f\n.type f, @gnu_indirect_function\nf: ret",
       "the function 'f' is chosen when it is loaded"}};
  for (const auto& [source, finding] : bad) {
    EXPECT_THAT(facts(source).findings, ElementsAre(finding)) << source;
  }
}

TEST_F(ObjectFactsTest, OfWhatIsNoObject) {
  const std::string object = assemble(".text\nret");
  for (const std::string& bytes :
       {std::string(), std::string("no object"), object.substr(0, 64), object.substr(0, 40)}) {
    EXPECT_FALSE(object_facts(testing::MemoryFileSystem({{"/x.o", bytes}}), "/x.o"));
  }
  // Its sections are counted elsewhere, as if it had none.
  std::string many = object;
  many[60] = many[61] = '\0';
  EXPECT_FALSE(object_facts(testing::MemoryFileSystem({{"/x.o", many}}), "/x.o"));
}

}  // namespace
}  // namespace tfaot::toolkit
