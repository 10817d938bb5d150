// SPDX-License-Identifier: Apache-2.0
// The tables, at a path that every version of the runtime has. Generated headers include it, so an
// older runtime fails by a static_assert that says why, and not by a missing file.
#pragma once

#include "tfaot/runtime/detail/description.h"  // IWYU pragma: export
