// SPDX-License-Identifier: Apache-2.0
// Names that the standard headers have taken, so that no class or namespace of a model can have
// them: a header that uses one does not compile where such a header came first. Pure functions.
#pragma once

#include <string_view>

namespace tfaot::toolkit::config {

// A macro of a usual build.
bool is_taken_macro(std::string_view name);

// A type, function or variable outside of all namespaces, such as 'size_t' or 'abs'.
bool is_taken_global(std::string_view name);

}  // namespace tfaot::toolkit::config
