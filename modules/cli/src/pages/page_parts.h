// SPDX-License-Identifier: Apache-2.0
// Pieces that several pages share. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/describe.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit {

// "1 file", "2 files"
std::string counted(std::size_t count, const std::string& word);

// Without the facts that have one of these labels, which the page shows elsewhere.
report::Facts facts_block(const std::vector<Fact>& facts,
                          const std::vector<std::string>& without = {});

// A whole number, its digits in groups, and sorted by its value.
report::Cell number_cell(std::int64_t number);
// "12.345" microseconds.
report::Cell microseconds_cell(double ns);

}  // namespace tfaot::toolkit
