// SPDX-License-Identifier: Apache-2.0
// Objects from hand-written assembler, and libraries of objects, in a scratch folder that is
// removed with the test.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {

class AssemblerTest : public ::testing::Test {
 protected:
  std::string assemble(const std::string& source) {
    const Path file = folder_ / "source.s";
    EXPECT_TRUE(files_.replace_atomically(file, source + "\n"));
    compiler({"-c", file.string(), "-o", (folder_ / "source.o").string()});
    return files_.read(folder_ / "source.o").value_or("");
  }

  using Probe = std::int64_t (*)();
  // What probe() of the objects returns if they are linked as a plugin.
  std::int64_t run_probe(const std::vector<std::string>& objects) {
    const Path library = folder_ / ("library" + std::to_string(++libraries_) + ".so");
    std::vector<std::string> arguments = {"-shared", "-nostdlib", "-o", library.string()};
    for (std::size_t i = 0; i < objects.size(); ++i) {
      arguments.push_back((folder_ / ("object" + std::to_string(i) + ".o")).string());
      EXPECT_TRUE(files_.replace_atomically(arguments.back(), objects[i]));
    }
    compiler(arguments);
    const std::unique_ptr<void, int (*)(void*)> handle(dlopen(library.c_str(), RTLD_NOW), dlclose);
    if (handle == nullptr) {
      ADD_FAILURE() << dlerror();
      return -1;
    }
    const auto probe = reinterpret_cast<Probe>(dlsym(handle.get(), "probe"));
    return probe != nullptr ? probe() : -1;
  }

  RealFileSystem files_;
  TemporaryFolder scratch_;
  Path folder_ = scratch_.path();

  void compiler(const std::vector<std::string>& arguments) {
    ProcessSpec process;
    process.program = TFAOT_COMPILER;
    process.arguments = arguments;
    process.working_directory = folder_;
    const auto result = run_process(process);
    ASSERT_TRUE(result && result->ok())
        << (result ? result->standard_error : result.error().text());
  }

 private:
  int libraries_ = 0;
};

}  // namespace tfaot::toolkit::testing
