// SPDX-License-Identifier: Apache-2.0
#include "elf_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace tfaot::toolkit {

ElfImage::~ElfImage() {
  elf_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status ElfImage::make_file() {
  elf_version(EV_CURRENT);
  descriptor_ = ::memfd_create("tfaot", MFD_CLOEXEC);
  if (descriptor_ < 0) return fail(Error::internal("cannot make a file in memory"));
  return {};
}

Status ElfImage::read(std::string bytes) {
  elf_version(EV_CURRENT);
  bytes_ = std::move(bytes);
  elf_.reset(elf_memory(bytes_.data(), bytes_.size()));
  if (elf_ == nullptr) return fail(elf_error("read a file"));
  return {};
}

Status ElfImage::change(std::string_view bytes) {
  TFAOT_TRY(make_file());
  TFAOT_TRY(fill(0, bytes));
  elf_.reset(elf_begin(descriptor_, ELF_C_RDWR, nullptr));
  if (elf_ == nullptr) return fail(elf_error("read an object"));
  return {};
}

Status ElfImage::reserve(std::uint64_t size) {
  TFAOT_TRY(make_file());
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    return fail(Error::internal("cannot make a file in memory"));
  }
  return {};
}

Status ElfImage::open() {
  elf_.reset();
  elf_.reset(elf_begin(descriptor_, ELF_C_READ, nullptr));
  if (elf_ == nullptr) return fail(elf_error("read a file"));
  return {};
}

Status ElfImage::fill(std::uint64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put <= 0) return fail(Error::internal("cannot copy an ELF object"));
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Result<std::string> ElfImage::file_contents() const {
  const off_t size = ::lseek(descriptor_, 0, SEEK_END);
  std::string bytes(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got <= 0) return fail(Error::internal("cannot read back an ELF object"));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<std::string> ElfImage::written() const {
  if (elf_update(elf_.get(), ELF_C_WRITE) < 0) return fail(elf_error("write an object"));
  return file_contents();
}

}  // namespace tfaot::toolkit
