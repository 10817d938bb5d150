// SPDX-License-Identifier: Apache-2.0
// Owners of what libelf works with. Its handles are used by one thread each.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

// An unnamed file in memory: libelf writes to descriptors only.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("tfaot", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

  Status write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
      if (put <= 0) return fail(Error::internal("cannot copy an ELF object"));
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

  Result<std::string> contents() const {
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    std::string bytes(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got =
          pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (got <= 0) return fail(Error::internal("cannot read back an ELF object"));
      done += static_cast<std::size_t>(got);
    }
    return bytes;
  }

 private:
  int descriptor_;
};

inline Error elf_error(const char* what) {
  return Error::internal(fmt::format("libelf cannot {}: {}", what, elf_errmsg(-1)));
}

}  // namespace tfaot::toolkit
