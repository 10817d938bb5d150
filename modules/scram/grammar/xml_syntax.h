// SPDX-License-Identifier: Apache-2.0
// What Python's parser (expat) refuses in a file of scram, but pugixml accepts. Pure function.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tfaot::toolkit {

struct SyntaxFault {
  std::size_t place = 0;  // in the text
  std::string what;
  std::string advice;
  std::string scram = "stops with a Python traceback: it cannot parse the file";
};

// The first fault. Faults that both refuse, such as a tag without an end, are left to pugixml.
std::optional<SyntaxFault> first_syntax_fault(const std::string& text);

// Limit for elements nested in each other.
constexpr int kMostNested = 500;
constexpr int kMostElements = 5000;
constexpr std::size_t kMostAttributes = 100;  // of an element

}  // namespace tfaot::toolkit
