// SPDX-License-Identifier: Apache-2.0
// Puts headers into one text, for a file that is used without them. Pure functions.
#pragma once

#include <map>
#include <string>

namespace tfaot::toolkit {

using HeaderTexts = std::map<std::string, std::string>;  // by the name in #include "..."

// `entry` and the headers that it includes from `headers`, each once, in the order of the first
// #include. Each has its own guards, so that several such texts can be in one translation unit.
std::string inlined_headers(const std::string& entry, const HeaderTexts& headers);

// One text without "#pragma once". Its #include "..." of `headers` are replaced by their text;
// other quoted ones are left out.
std::string with_inlined_headers(const std::string& text, const HeaderTexts& headers);

}  // namespace tfaot::toolkit
