// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/job_slots.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace tfaot::toolkit {
namespace {

// "3,4" or "fifo:PATH"; empty if there is none. The last one counts.
std::string job_server_of(std::string_view makeflags) {
  for (const std::string_view option : {"--jobserver-auth=", "--jobserver-fds="}) {
    const std::size_t place = makeflags.rfind(option);
    if (place == std::string_view::npos) continue;
    makeflags.remove_prefix(place + option.size());
    return std::string(makeflags.substr(0, makeflags.find(' ')));
  }
  return "";
}

struct Ends {
  int read = -1;
  int write = -1;
};

// Opened again, because O_NONBLOCK on make's own pipe would be seen by make.
Ends open_job_server(const std::string& server) {
  constexpr std::string_view kFifo = "fifo:";
  std::string read_path;
  std::string write_path;
  int read_end = -1;
  int write_end = -1;
  if (server.starts_with(kFifo)) {
    read_path = write_path = server.substr(kFifo.size());
  } else if (std::sscanf(server.c_str(), "%d,%d", &read_end, &write_end) == 2) {
    read_path = fmt::format("/proc/self/fd/{}", read_end);
    write_path = fmt::format("/proc/self/fd/{}", write_end);
  } else {
    return {};
  }
  Ends ends;
  ends.read = ::open(read_path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (ends.read < 0) return {};
  ends.write = ::open(write_path.c_str(), O_WRONLY | O_CLOEXEC);
  if (ends.write >= 0) return ends;
  ::close(ends.read);
  return {};
}

}  // namespace

JobSlots::JobSlots(const std::string& makeflags, std::size_t most) : count_(most) {
  const Ends ends = open_job_server(job_server_of(makeflags));
  if (ends.write < 0) return;
  give_back_ = ends.write;
  char slot = 0;
  while (taken_.size() + 1 < most) {
    const ssize_t got = ::read(ends.read, &slot, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) break;
    taken_ += slot;
  }
  ::close(ends.read);
  count_ = taken_.size() + 1;
}

JobSlots::~JobSlots() {
  if (give_back_ < 0) return;
  for (const char slot : taken_) {
    while (::write(give_back_, &slot, 1) < 0 && errno == EINTR) {
    }
  }
  ::close(give_back_);
}

}  // namespace tfaot::toolkit
