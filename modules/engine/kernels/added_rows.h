// SPDX-License-Identifier: Apache-2.0
// Sums of rows that are repeated, some of them by number, as repeated_rows.h leaves them: they
// become calls of a kernel that finds and adds the rows, with the relu after it. Used by one
// thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Sums without a gather, or with terms that XLA computes in its loop, stay.
Status replace_added_rows(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
