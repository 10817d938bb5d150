// SPDX-License-Identifier: Apache-2.0
// What fits into the user's terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tfaot::toolkit {

constexpr std::size_t kUsualColumns = 100;  // what help texts are written for

// $COLUMNS, else the width of the terminal that `descriptor` leads to; nothing when it leads to
// none, or to one that does not say.
std::optional<std::size_t> terminal_columns(int descriptor, const std::string& columns_variable);

// A help text with no line wider than `columns`, where blanks allow. Descriptions stay in their
// column, example commands go on behind a '\'.
std::string fitted_help(const std::string& text, std::size_t columns);

}  // namespace tfaot::toolkit
