// SPDX-License-Identifier: Apache-2.0
// Fits text to the user's terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tfaot::toolkit {

constexpr std::size_t kUsualColumns = 100;  // the width that help texts are written for

// $COLUMNS, else the width of the terminal that `descriptor` leads to. Nothing if it is not a
// terminal, or one of unknown width.
std::optional<std::size_t> terminal_columns(int descriptor, const std::string& columns_variable);

// A help text in lines of at most `columns`, broken at spaces. Descriptions stay in their column;
// example commands continue after a '\'.
std::string fitted_help(const std::string& text, std::size_t columns);

}  // namespace tfaot::toolkit
