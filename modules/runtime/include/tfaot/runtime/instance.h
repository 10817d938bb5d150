// SPDX-License-Identifier: Apache-2.0
// The place where headers of tfaot 0.2 look for the instance.
#pragma once

#include "tfaot/runtime/detail/instance.h"  // IWYU pragma: export
