// SPDX-License-Identifier: Apache-2.0
// Two processes that use one SHARED model hold its weights once: by the kernel's count, all their
// pages are clean and shared.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace tfaot::toolkit::testing {
namespace {

constexpr std::uintptr_t kPage = 4096;

// One run of shared_weights.cc.
class Holder {
 public:
  Holder() : output_(popen("exec \"" TFAOT_SHARED_WEIGHTS "\"", "r")) {
    long pid = 0;
    unsigned long address_read = 0;
    unsigned long size_read = 0;
    if (output_ != nullptr &&
        std::fscanf(output_, "%ld %lu %lu", &pid, &address_read, &size_read) == 3) {
      pid_ = static_cast<pid_t>(pid);
      address = address_read;
      size = size_read;
    }
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (pid_ > 0) kill(pid_, SIGTERM);
    if (output_ != nullptr) pclose(output_);
  }

  // For the mapping that contains the weights.
  struct Mapping {
    std::string permissions;
    std::uint64_t shared_clean = 0;  // bytes
    std::uint64_t dirty = 0;
    std::uint64_t resident = 0;
    std::uint64_t proportional = 0;
  };
  Mapping mapping() const {
    std::ifstream smaps("/proc/" + std::to_string(pid_) + "/smaps");
    Mapping found;
    bool inside = false;
    for (std::string line; std::getline(smaps, line);) {
      unsigned long first = 0;
      unsigned long end = 0;
      char permissions[5] = {};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &end, permissions) == 3) {
        inside = first <= address && address + size <= end;
        if (inside) found.permissions = permissions;
        continue;
      }
      std::istringstream words(line);
      std::string key;
      std::uint64_t kilobytes = 0;
      words >> key >> kilobytes;
      const std::uint64_t bytes = kilobytes * 1024;
      if (!inside) continue;
      if (key == "Shared_Clean:") found.shared_clean = bytes;
      if (key == "Private_Dirty:" || key == "Shared_Dirty:") found.dirty += bytes;
      if (key == "Rss:") found.resident = bytes;
      if (key == "Pss:") found.proportional = bytes;
    }
    return found;
  }

  std::uintptr_t address = 0;
  std::uint64_t size = 0;

 private:
  std::FILE* output_;
  pid_t pid_ = -1;
};

// The kernel counts a file's pages as dirty until the file is on the disk, whoever wrote it.
void write_to_disk(const char* file) {
  const int descriptor = open(file, O_RDONLY);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(fsync(descriptor), 0);
  close(descriptor);
}

TEST(SharedWeights, AreInMemoryOnce) {
  write_to_disk(TFAOT_SHARED_LIBRARY);
  const Holder one;
  const Holder two;
  ASSERT_GE(one.size, 16 * kPage);
  EXPECT_EQ(one.address % kPage, 0U);
  for (const Holder* holder : {&one, &two}) {
    const auto mapping = holder->mapping();
    EXPECT_EQ(mapping.permissions, "r--p");
    EXPECT_EQ(mapping.dirty, 0U);
    EXPECT_GE(mapping.shared_clean, one.size);
    // Each counts half of what both share.
    EXPECT_LE(mapping.proportional, mapping.resident - one.size / 2);
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
