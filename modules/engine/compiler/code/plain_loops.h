// SPDX-License-Identifier: Apache-2.0
// XLA's own loops compute each operation of a model by itself and in the model's order: no product
// is fused with a sum, no sum is split, and no two operations become others. LLVM would choose both
// by what it unrolls and by the width of vectors, so by batch size and CPU level. XLA has no
// options for it. So some functions of XLA's library are replaced (plain_loops.cc).
#pragma once

#include <string>

namespace tfaot::toolkit::engine {

// Loops that XLA compiles ahead of time while it lives are plain. One at a time.
class PlainLoops {
 public:
  // `cpu`: LLVM's name of the CPU that code is made for.
  explicit PlainLoops(const std::string& cpu);
  ~PlainLoops();
  PlainLoops(const PlainLoops&) = delete;
  PlainLoops& operator=(const PlainLoops&) = delete;

  // False after compiling: XLA's library is not the one that this file knows.
  bool are_plain() const;
};

}  // namespace tfaot::toolkit::engine
