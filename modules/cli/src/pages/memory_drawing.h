// SPDX-License-Identifier: Apache-2.0
// The temporaries of a program over time: which value is where, and from when to when. Pure
// function.
#pragma once

#include <string>

#include "tfaot/inspect/buffer_map.h"

namespace tfaot::toolkit {

// SVG for a page; empty if nothing is known of the lifetimes.
std::string memory_drawing(const BufferMap& map);

}  // namespace tfaot::toolkit
