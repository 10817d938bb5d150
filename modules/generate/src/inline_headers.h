// SPDX-License-Identifier: Apache-2.0
// Headers put into one text, for a file that is used where they are not. Pure functions.
#pragma once

#include <map>
#include <string>

namespace tfaot::toolkit {

using HeaderTexts = std::map<std::string, std::string>;  // by the name in #include "..."

// What `entry` includes of `headers`, and itself, each once, in the order of the first #include;
// each between guards of its own, so that several such texts live in one translation unit.
std::string inlined_headers(const std::string& entry, const HeaderTexts& headers);

// One text without "#pragma once", whose #include "..." of `headers` are replaced by these, and
// other ones with quotes left out.
std::string with_inlined_headers(const std::string& text, const HeaderTexts& headers);

}  // namespace tfaot::toolkit
