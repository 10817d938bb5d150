// SPDX-License-Identifier: Apache-2.0
// Owner of an ELF file that libelf works with: its handle and its memory. One thread.
#pragma once

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

class ElfImage {
 public:
  ElfImage() = default;
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;
  ~ElfImage();

  // Open it with one of these three. For an object, program, library or archive:
  Status read(std::string bytes);
  // For changing and writing.
  Status change(std::string_view bytes);
  // A file of this size, all zeros, until fill() supplies the parts that libelf is to read. For
  // large files. Call open() once the headers are there, and again after adding more of them.
  Status reserve(std::uint64_t size);
  Status fill(std::uint64_t offset, std::string_view bytes) const;
  Status open();

  Elf* get() const { return elf_.get(); }
  // REQUIRES: change().
  Result<std::string> written() const;

 private:
  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  Status make_file();
  Result<std::string> file_contents() const;

  std::string bytes_;    // of read(); libelf may write into it
  int descriptor_ = -1;  // of the others: a file in memory, as libelf writes to descriptors only
  std::unique_ptr<Elf, EndElf> elf_;
};

inline Error elf_error(const char* what) {
  return Error::internal(fmt::format("libelf cannot {}: {}", what, elf_errmsg(-1)));
}

}  // namespace tfaot::toolkit
