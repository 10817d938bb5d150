// SPDX-License-Identifier: Apache-2.0
// Random numbers that a model draws when it runs. Compiled code would draw other numbers than
// TensorFlow, because XLA's generators are not TensorFlow's. Pure function.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Fails if a result depends on random numbers, and names the operations that draw them. Numbers
// that TensorFlow computed ahead are constants here. REQUIRES: code that never runs has been
// simplified away.
Status check_random_numbers(const xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
