// SPDX-License-Identifier: Apache-2.0
// A graph of a program as a drawing: in graphviz' language, and laid out by graphviz. Constants and
// the elements of tuples are left out. Safe from many threads.
#pragma once

#include <cstddef>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit {

enum class DrawnDetail {
  kLayers,        // one box for each layer of the model
  kInstructions,  // fusions and reductions closed
  kAll,           // what fusions hold, too
};
template <>
inline constexpr auto kWords<DrawnDetail> = std::to_array<Word<DrawnDetail>>({
    {DrawnDetail::kLayers, "layers"},
    {DrawnDetail::kInstructions, "instructions"},
    {DrawnDetail::kAll, "all"},
});

// Equal graphs give equal texts.
std::string dot_of(const HloGraph& graph, DrawnDetail detail);
// How many boxes it has.
std::size_t drawn_boxes(const HloGraph& graph, DrawnDetail detail);

// Starts graphviz' program 'dot'. Error: it is not installed, or needs too long.
Result<std::string> svg_of(const std::string& dot);

// Of a drawing for a report: the colours of light and dark pages, and no ids.
std::string with_page_colours(std::string svg);

}  // namespace tfaot::toolkit
