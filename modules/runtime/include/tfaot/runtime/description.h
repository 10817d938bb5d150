// SPDX-License-Identifier: Apache-2.0
// The tables, where generated headers include them: every version of the runtime has this path, so
// what is wrong with an older one is said by a static_assert and not by a missing file.
#pragma once

#include "tfaot/runtime/detail/description.h"  // IWYU pragma: export
