// SPDX-License-Identifier: Apache-2.0
// The instance, where generated headers include it: see description.h.
#pragma once

#include "tfaot/runtime/detail/instance.h"  // IWYU pragma: export
