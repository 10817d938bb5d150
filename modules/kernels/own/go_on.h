// SPDX-License-Identifier: Apache-2.0
// Addresses step by step.
#pragma once

#include "vec.h"

namespace {

// To the next one of places that are equally far apart. The compiler would keep a register for each
// of them.
template <typename At>
TFAOT_INLINE void go_on(At& at, Int step) {
  at += step;
  asm("" : "+r"(at));
}

}  // namespace
