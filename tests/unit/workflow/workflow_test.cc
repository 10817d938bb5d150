// SPDX-License-Identifier: Apache-2.0
#include "workflow_test.h"

#include <fmt/format.h>

namespace tfaot::toolkit::testing {

void CollectedDiagnostics::warning(const std::string& text) {
  const std::lock_guard lock(mutex_);
  warnings.push_back(text);
}

void CollectedDiagnostics::progress(std::size_t done, std::size_t total, const std::string& step) {
  const std::lock_guard lock(mutex_);
  steps.push_back(fmt::format("{}/{} {}", done, total, step));
}

WorkflowTest::WorkflowTest() {
  environment_.working_directory = root_;
  environment_.program = root_ / "prefix/bin/tfaot";
  environment_.architecture = "x86_64";
  EXPECT_TRUE(files_.copy_file(TFAOT_FAKE_ENGINE, root_ / "prefix/libexec/tfaot/tfaot-engine"));
  write("prefix/" TFAOT_LIBDIR "/libtfaot_runtime.a", "!<arch>\n");
  write("prefix/include/tfaot/runtime/model.h", "#pragma once\n");
  write("prefix/include/tfaot/cmssw/drop_in/Model.h", "#pragma once\n");
  write("prefix/include/tfaot/cmssw/inside/xla_function.h", "#pragma once\n");
  write("prefix/" TFAOT_DATADIR "/tfaot/runtime/LICENSE", "a licence\n");
  write("prefix/" TFAOT_DATADIR "/tfaot/runtime/NOTICE", "notices\n");
}

void WorkflowTest::write(const std::string& path, const std::string& text) {
  const Status written = files_.replace_atomically(root_ / path, text);
  EXPECT_TRUE(written) << written.error().text();
}

std::string WorkflowTest::read(const Path& path) const {
  return files_.read(path).value_or("(cannot be read)");
}

void WorkflowTest::write_model() {
  write("model/aot_config.yaml",
        "model:\n"
        "  name: test_net\n"
        "  version: \"1.0.0\"\n"
        "compilation:\n"
        "  batch_sizes: [1, 4]\n"
        "  cpu_levels: [x86-64]\n");
  write("model/saved_model/saved_model.pb", "a graph");
  write("model/saved_model/variables/variables.index", "an index");
}

}  // namespace tfaot::toolkit::testing
