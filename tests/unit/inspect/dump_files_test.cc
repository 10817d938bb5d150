// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/dump_files.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MemoryFileSystem;
using ::testing::SizeIs;

std::vector<std::string> stages_of(const DumpedModule& module) {
  std::vector<std::string> stages;
  for (const HloFile& file : module.stages) stages.push_back(file.stage);
  return stages;
}

TEST(DumpFiles, OurStepsThenThoseOfXla) {
  const MemoryFileSystem files{
      {"/d/tfaot.json", "{}"},
      {"/d/tfaot.0002.simplified.hlo.pb", ""},
      {"/d/tfaot.0001.lowered.hlo.pb", ""},
      {"/d/module_0007.tfaot.cpu_after_optimizations.hlo.pb", ""},
      {"/d/module_0007.tfaot.cpu_after_optimizations.txt", "HloModule tfaot"},
      {"/d/module_0007.tfaot.cpu_after_optimizations-buffer-assignment.txt", "BufferAssignment:"},
      {"/d/module_0007.tfaot.cpu_after_optimizations-memory-usage-report.txt", "Total"},
      {"/d/module_0007.tfaot.before_optimizations.txt", "HloModule tfaot"},
      {"/d/module_0007.tfaot.0012.simplification.after_dce.before_cse.hlo.pb", ""},
      {"/d/module_0007.tfaot.0003.simplification.after_pipeline-start.before_dce.hlo.pb", ""},
      {"/d/module_0007.tfaot.ir-no-opt.ll", ""},
      {"/d/module_0007.tfaot.ir-with-opt.ll", ""},
      {"/d/module_0007.tfaot.o", ""},
      {"/d/notes.txt", "HloModule that nobody dumped"}};
  EXPECT_TRUE(is_dump(files, "/d"));
  const auto modules = dumped_modules(files, "/d");
  ASSERT_TRUE(modules);
  ASSERT_THAT(*modules, SizeIs(1));
  const DumpedModule& module = modules->front();
  EXPECT_EQ(module.name, "tfaot");
  EXPECT_THAT(stages_of(module),
              ElementsAre("lowered", "simplified", "before_optimizations",
                          "0003.simplification.after_pipeline-start.before_dce",
                          "0012.simplification.after_dce.before_cse", "cpu_after_optimizations"));
  EXPECT_TRUE(module.stages.back().path.ends_with(".pb")) << "the proto holds more than the text";
  EXPECT_EQ(module.buffers, "/d/module_0007.tfaot.cpu_after_optimizations-buffer-assignment.txt");
  EXPECT_EQ(module.first_llvm, "/d/module_0007.tfaot.ir-no-opt.ll");
  EXPECT_EQ(module.llvm, "/d/module_0007.tfaot.ir-with-opt.ll");
  EXPECT_EQ(module.object, "/d/module_0007.tfaot.o");
}

TEST(DumpFiles, SeveralModules) {
  const MemoryFileSystem files{
      {"/d/module_0001.cluster_0__Xla.before_optimizations.txt", "HloModule a"},
      {"/d/module_0002.main.3.before_optimizations.txt", "HloModule b"},
      {"/d/module_0003.no_hlo.ir-no-opt.ll", ""}};
  const auto modules = dumped_modules(files, "/d");
  ASSERT_TRUE(modules);
  ASSERT_THAT(*modules, SizeIs(2));
  EXPECT_EQ((*modules)[0].name, "module_0001.cluster_0__Xla");
  EXPECT_EQ((*modules)[1].name, "module_0002.main.3");
}

TEST(DumpFiles, AFolderOfOtherThings) {
  const MemoryFileSystem files{{"/d/manifest.json", "{}"}, {"/e/module_0001.a.ir-no-opt.ll", ""}};
  EXPECT_FALSE(is_dump(files, "/d"));
  EXPECT_FALSE(is_dump(files, "/d/manifest.json"));
  EXPECT_TRUE(is_dump(files, "/e"));
  const auto modules = dumped_modules(files, "/e");
  ASSERT_FALSE(modules);
  EXPECT_EQ(modules.error().text(),
            "/e: the folder holds no HLO\n  XLA writes it with XLA_FLAGS=--xla_dump_to=FOLDER");
}

}  // namespace
}  // namespace tfaot::toolkit
