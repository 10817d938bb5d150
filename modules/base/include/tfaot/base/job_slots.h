// SPDX-License-Identifier: Apache-2.0
// GNU make's job server: `make -j8` lends its free slots to the programs that it starts, so that
// all of them together run eight jobs. Every program has one slot without asking.
#pragma once

#include <cstddef>
#include <string>

namespace tfaot::toolkit {

/// Slots that this process holds; given back at the end. Not safe from many threads.
class JobSlots {
 public:
  /// Takes what is free now, until `most` are held, the process's own among them. `makeflags`:
  /// MAKEFLAGS of the environment. If it names no job server, or make has closed it (as it does for
  /// a command that it does not take for a make), `most` are held.
  JobSlots(const std::string& makeflags, std::size_t most);
  ~JobSlots();
  JobSlots(const JobSlots&) = delete;
  JobSlots& operator=(const JobSlots&) = delete;

  std::size_t count() const { return count_; }

 private:
  int give_back_ = -1;  // file descriptor; -1: there is no job server
  std::string taken_;   // a byte for each slot, which goes back as it came
  std::size_t count_;
};

}  // namespace tfaot::toolkit
