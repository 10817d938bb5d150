// SPDX-License-Identifier: Apache-2.0
// What `tfaot inspect` found -> its page.
#pragma once

#include <string>
#include <vector>

#include "tfaot/report/page.h"
#include "tfaot/workflow/inspect_code.h"

namespace tfaot::toolkit {

// A drawing of a stage, or why there is none.
struct StageDrawing {
  std::string stage;
  std::string title;
  std::string svg;      // for a page; may be empty
  std::string problem;  // instead
};
// Starts graphviz for each stage; without graphviz, the first drawing says so and is the only one.
std::vector<StageDrawing> draw_stages(const InspectedCode& code);

report::Page inspection_page(const InspectedCode& code, const std::vector<StageDrawing>& drawings);
report::Page comparison_page(const InspectedCode& first, const InspectedCode& second);

}  // namespace tfaot::toolkit
