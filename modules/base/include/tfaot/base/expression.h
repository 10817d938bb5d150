// SPDX-License-Identifier: Apache-2.0
// Regular expressions out of files that others wrote: looked for in bounded time and memory. They
// are those of C++ (ECMAScript), which for what tool files and BuildFiles hold is what Python
// reads. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Whether the expression is found somewhere in the text. Error: it is none, or could take for ever:
// longer than 200 characters, a repeated group, more than four repetitions; or the text is longer
// than 1000.
Result<bool> search_expression(const std::string& expression, const std::string& text);

// Why it is no expression; nothing when it is one, or when only Python can say.
std::optional<std::string> expression_fault(const std::string& expression);

}  // namespace tfaot::toolkit
