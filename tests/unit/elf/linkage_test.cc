// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/linkage.h"

#include <gtest/gtest.h>

#include "tests/support/memory_file_system.h"
#include "tests/support/relocatable_object.h"
#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {
namespace {

Linkage linkage(const std::string& bytes) {
  return linkage_of(testing::MemoryFileSystem({{"/x.o", bytes}}), "/x.o");
}

TEST(Linkage, IsToldByTheRelocations) {
  EXPECT_EQ(linkage(testing::object_with(R_X86_64_PC32)), Linkage::kPositionIndependent);
  EXPECT_EQ(linkage(testing::object_with(R_X86_64_32)), Linkage::kPositionDependent);
  EXPECT_EQ(linkage(testing::object_with(R_X86_64_32S)), Linkage::kPositionDependent);
  EXPECT_EQ(linkage(*make_data_object("x", {{"s"}}, "x86_64-linux")),
            Linkage::kPositionIndependent);
}

TEST(Linkage, OfWhatIsNoObject) {
  const std::string object = testing::object_with(R_X86_64_32);
  for (const std::string& bytes : {std::string(), std::string("no object"), object.substr(0, 64)}) {
    EXPECT_EQ(linkage(bytes), Linkage::kUnknown);
  }
  EXPECT_EQ(linkage_of(testing::MemoryFileSystem(), "/x.o"), Linkage::kUnknown);
}

}  // namespace
}  // namespace tfaot::toolkit
