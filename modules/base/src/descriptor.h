// SPDX-License-Identifier: Apache-2.0
// Owner of a POSIX file descriptor. One thread at a time.
#pragma once

#include <unistd.h>

#include <utility>

namespace tfaot::toolkit {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  // For written files: some disks (NFS, quotas) report a lost write only here. 0, or -1 and errno.
  int close() { return ::close(release()); }

 private:
  int fd_ = -1;
};

}  // namespace tfaot::toolkit
