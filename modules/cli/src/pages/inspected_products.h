// SPDX-License-Identifier: Apache-2.0
// The section of an inspection that says what became of each product of the model. Pure function.
#pragma once

#include <vector>

#include "tfaot/records/hlo_graph.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit {

// `before`: products are not calls yet; `after`: the last stage.
report::Section products_section(const HloGraph& before, const HloGraph& after,
                                 const std::vector<WeightOrigin>& weights);

}  // namespace tfaot::toolkit
