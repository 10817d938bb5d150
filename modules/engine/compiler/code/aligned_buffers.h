// SPDX-License-Identifier: Apache-2.0
// XLA places temporaries at multiples of 16 bytes. Where the first of them are small, as numbers
// that follow free sizes, each vector of all others lies in two lines of the caches, and kernels
// take up to 1.6 times as long. XLA has no option for it. So a function of its library is replaced
// (aligned_buffers.cc).
#pragma once

namespace tfaot::toolkit::engine {

// Temporaries of code that XLA makes while it lives begin with a line of the caches. One at a time.
class AlignedBuffers {
 public:
  AlignedBuffers();
  ~AlignedBuffers();
  AlignedBuffers(const AlignedBuffers&) = delete;
  AlignedBuffers& operator=(const AlignedBuffers&) = delete;
};

}  // namespace tfaot::toolkit::engine
