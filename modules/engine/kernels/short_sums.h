// SPDX-License-Identifier: Apache-2.0
// Sums over a last dimension of a few elements, as of the squared differences of two or three
// coordinates of all pairs of points. XLA makes a loop of a few turns for each sum. Written out,
// all sums of a row are one vectorised loop. Coordinates that are columns of a wide table are
// gathered before it. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Of values that are computed in the same loop.
Status write_out_short_sums(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
