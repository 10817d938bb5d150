// SPDX-License-Identifier: Apache-2.0
// The place where headers of tfaot 0.2 look for the tables. Also the first thing that a newer
// model's header includes, as every version of the runtime has it: so the version is checked before
// anything can be missing.
#pragma once

#include "tfaot/runtime/detail/description.h"  // IWYU pragma: export
