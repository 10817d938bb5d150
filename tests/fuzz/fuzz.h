// SPDX-License-Identifier: Apache-2.0
// What a fuzzer of this folder implements: reads the bytes with a reader of tfaot. It may return,
// but must neither crash nor hang nor take more than libFuzzer allows, and what it read must stay
// the same when it is written and read again. One source a reader.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tfaot::toolkit {

void fuzz(const std::string& bytes);

// For what must hold whatever the bytes are.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "must hold: %s\n", what);
  std::abort();
}

}  // namespace tfaot::toolkit
