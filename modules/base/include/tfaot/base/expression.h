// SPDX-License-Identifier: Apache-2.0
// Regular expressions from files that tfaot did not write, matched in bounded time and memory. The
// grammar is C++'s (ECMAScript). For what tool files and BuildFiles contain, it agrees with
// Python's. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// True if the expression matches somewhere in the text. Error: the expression is not valid or could
// take too long (longer than 200 characters, a repeated group, more than four repetitions), or the
// text is longer than 1000 characters.
Result<bool> search_expression(const std::string& expression, const std::string& text);

// Why the expression is not valid. Nothing if it is valid, or if only Python can say.
std::optional<std::string> expression_fault(const std::string& expression);

}  // namespace tfaot::toolkit
