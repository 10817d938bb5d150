// SPDX-License-Identifier: Apache-2.0
// SHA-256 (OpenSSL) as 64 lower-case hex digits. One Sha256 per thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::string_view bytes);
  // Ends the computation and resets the object.
  std::string hex_digest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_of(std::string_view bytes);
Result<std::string> sha256_of_file(const FileSystem& fs, const Path& path);

// One digest for a file or a whole folder: for a folder, over the sorted lines "<sha256>  <relative
// path>\n". Links are followed, to folders too.
Result<std::string> sha256_of_tree(const FileSystem& fs, const Path& path);

}  // namespace tfaot::toolkit
