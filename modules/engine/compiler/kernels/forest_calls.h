// SPDX-License-Identifier: Apache-2.0
// A forest of decision trees in a module: a call of a computation that walks the trees in plain
// HLO, with what a kernel must know as an attribute. Its operands are those of the kernel
// tfaot_forest after the struct. Pure functions.
#pragma once

#include <vector>

#include "tfaot/kernels/abi.h"
#include "xla/xla_data.pb.h"

namespace tfaot::toolkit::engine {

xla::FrontendAttributes forest_attributes(kernels::ForestCall call,
                                          const std::vector<kernels::ForestBlock>& blocks);

}  // namespace tfaot::toolkit::engine
