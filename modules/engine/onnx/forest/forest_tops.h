// SPDX-License-Identifier: Apache-2.0
// The first steps through a forest's trees once more, in the order in which vectors read them
// (ForestTop in tfaot/kernels/forest.h says how). Pure functions.
#pragma once

#include "onnx/forest/forest_tables.h"

namespace tfaot::toolkit::engine {

// Puts the ForestTops of the blocks behind the nodes, if a kernel can use them. The walk in HLO
// does not notice.
void add_forest_tops(ForestTables& tables);

}  // namespace tfaot::toolkit::engine
