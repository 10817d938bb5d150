// SPDX-License-Identifier: Apache-2.0
// A page with every kind of block, and one whose texts try to break out of it.
#pragma once

#include "tfaot/report/page.h"

namespace tfaot::toolkit::report::testing {

Page sample_page();

// In every place of a text.
inline constexpr const char* kHostile =
    "</script></title></style><img src=x onerror=\"hostile=1\"> {{title}} & '\"<!-- \xff \u202e";
Page hostile_page();

}  // namespace tfaot::toolkit::report::testing
