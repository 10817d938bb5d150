// SPDX-License-Identifier: Apache-2.0
// A scratch folder with a copy of the built tool, as if it were installed there: PREFIX/bin, lib,
// include, with a fake engine and a fake runtime. The tool's output is shown with ROOT for that
// folder, so that tests can compare all of it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {

class CliTest : public ::testing::Test {
 protected:
  // A command line and everything that came out of it.
  struct Outcome {
    std::string command;
    int exit_code = -1;
    int signal = 0;
    std::string out;
    std::string err;
    std::string text() const;  // for golden files
  };
  using Variables = std::map<std::string, std::string>;

  CliTest();

  Outcome run(const std::vector<std::string>& arguments, const Variables& environment = {}) const;

  // The verbs of verbs.def.
  static std::vector<std::string> verbs();

  // The path below the scratch folder.
  std::string at(const std::string& path) const { return (root_ / path).string(); }
  void write(const std::string& path, const std::string& text);
  std::string read(const std::string& path) const;
  // A page without what all pages share, for golden files.
  std::string read_page(const std::string& path) const;
  std::vector<std::string> files_in(const std::string& path) const;

  // model/aot_config.yaml and a saved model for the fake engine: "test_net" 1.0.0, batch sizes 1
  // and 4.
  void write_model();
  // Compiles that model into "out", by one engine process.
  Outcome compile(const std::vector<std::string>& more = {},
                  const Variables& environment = {}) const;
  // A package tree at `path`, without any compilation.
  struct Tree {
    std::string version = "1.0.0";
    std::string header = "#pragma once\n";
    std::string object = {};  // of the first batch size
  };
  void write_tree_at(const std::string& path, const Tree& tree);

  RealFileSystem files_;
  TemporaryFolder scratch_{"tfaot-cli-XXXXXX"};  // rpmbuild and make take no blanks
  Path root_ = scratch_.path();
};

}  // namespace tfaot::toolkit::testing
