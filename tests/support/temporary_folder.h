// SPDX-License-Identifier: Apache-2.0
// A fresh folder on the real disk, removed with all its contents at the end of the scope. Its name
// is unique, so that two runs of the tests on one machine do not collide.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace tfaot::toolkit::testing {

class TemporaryFolder {
 public:
  // The name ends in six X, which are replaced. The usual one has spaces on purpose.
  explicit TemporaryFolder(const std::string& pattern = "tfaot test XXXXXX") {
    std::string name = (std::filesystem::temp_directory_path() / pattern).string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = std::filesystem::canonical(name);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tfaot::toolkit::testing
