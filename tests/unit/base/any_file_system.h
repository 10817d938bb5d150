// SPDX-License-Identifier: Apache-2.0
// The fixture of tests that run on the disk and in memory: for what both file systems guarantee.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/executable_file.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {

class OnDisk {
 public:
  FileSystem& fs() { return fs_; }
  Path root() const { return folder_.path(); }
  bool is_executable(const Path& path) const {
    const auto bits = std::filesystem::status(path).permissions();
    return (bits & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
  }
  void make_executable(const Path& path) { testing::make_executable(path); }

 private:
  testing::TemporaryFolder folder_;
  RealFileSystem fs_;
};

class InMemory {
 public:
  InMemory() { (void)fs_.create_directories(root()); }
  FileSystem& fs() { return fs_; }
  Path root() const { return "/some/root"; }
  bool is_executable(const Path& path) const { return fs_.is_executable(path); }
  void make_executable(const Path& path) { fs_.set_executable(path); }

 private:
  testing::MemoryFileSystem fs_;
};

template <class Side>
class AnyFileSystem : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& contents) {
    const Status written = fs.replace_atomically(at(name), contents);
    ASSERT_TRUE(written) << written.error().text();
  }
  void link(const std::string& target, const std::string& name) {
    const Status made = fs.replace_symlink(target, at(name));
    ASSERT_TRUE(made) << made.error().text();
  }
  void make_folder(const std::string& name) { ASSERT_TRUE(fs.create_directories(at(name))); }
  std::string read(const std::string& name) const {
    const auto contents = fs.read(at(name));
    return contents ? *contents : error_of(contents);
  }
  std::vector<std::string> list(const std::string& name = "") const {
    return fs.list(at(name)).value();
  }
  FileKind kind(const std::string& name) const { return fs.kind(at(name)); }
  Path at(const std::string& name) const { return name.empty() ? side.root() : side.root() / name; }
  // The whole text, with ROOT for the root.
  template <class T>
  std::string error_of(const Result<T>& result) const {
    return result ? "no error" : replace_all(result.error().text(), side.root().string(), "ROOT");
  }

  Side side;
  FileSystem& fs = side.fs();
};

struct SideNames {
  template <class Side>
  static std::string GetName(int) {
    return std::is_same_v<Side, OnDisk> ? "OnDisk" : "InMemory";
  }
};
using Sides = ::testing::Types<OnDisk, InMemory>;
}  // namespace tfaot::toolkit
