// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>

namespace tfaot::toolkit {
namespace {

constexpr std::uint64_t kKibibyte = 1024;

// The number in a file that has nothing else; no limit is "max" there.
std::uint64_t smaller_of(std::uint64_t bytes, const std::filesystem::path& file) {
  std::ifstream text(file);
  std::uint64_t limit = 0;
  return text >> limit ? std::min(bytes, limit) : bytes;
}

}  // namespace

bool MemoryBudget::is_exceeded_by(pid_t process, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  used_[process] = bytes;
  const auto sum = [](std::uint64_t all, const auto& one) { return all + one.second; };
  const bool has_most =
      std::ranges::all_of(used_, [bytes](const auto& one) { return one.second <= bytes; });
  return bytes_ > 0 && has_most &&
         std::accumulate(used_.begin(), used_.end(), std::uint64_t{0}, sum) > bytes_;
}

void MemoryBudget::forget(pid_t process) {
  const std::scoped_lock lock(mutex_);
  used_.erase(process);
}

std::uint64_t memory_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::uint64_t bytes = 0;
  for (std::string name; status >> name;) {
    std::uint64_t kibibytes = 0;
    if (name == "RssAnon:" || name == "RssShmem:" || name == "VmSwap:") status >> kibibytes;
    bytes += kibibytes * kKibibyte;
  }
  return bytes;
}

void end_above_memory(std::uint64_t bytes, void (*end)()) {
  if (bytes == 0) return;
  std::thread([bytes, end] {
    while (memory_of(::getpid()) <= bytes) std::this_thread::sleep_for(kMemoryLook);
    constexpr std::string_view kText =
        "it needed too much memory: raise the limit with --memory MB (0: none)\n";
    static_cast<void>(::write(STDERR_FILENO, kText.data(), kText.size()));
    end();
  }).detach();
}

std::uint64_t machine_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  std::uint64_t bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::filesystem::path groups = "/sys/fs/cgroup";
  bytes = smaller_of(bytes, groups / "memory/memory.limit_in_bytes");  // version 1
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    if (!line.starts_with("0::/")) continue;
    // Those above limit it, too.
    for (std::filesystem::path group = line.substr(4);; group = group.parent_path()) {
      bytes = smaller_of(bytes, groups / group / "memory.max");
      if (group.empty()) break;
    }
  }
  return bytes;
}

}  // namespace tfaot::toolkit
