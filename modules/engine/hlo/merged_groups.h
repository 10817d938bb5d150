// SPDX-License-Identifier: Apache-2.0
// Reshapes of [batch, channels, positions...] to [batch, groups, rest], as PyTorch exports group
// normalisation. Their last dimension holds channels and positions, so no transpose can pass them.
// Here all that is computed until the next reshape gets these as dimensions of their own. Used by
// one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Where the last dimension is added up. Elements stay what they were.
Status split_merged_groups(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
