// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/tool_names.h"

#include <algorithm>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

std::string identifier_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !is_letter_or_digit(c); }, '_');
  return text;
}

std::string base_variable(const std::string& tool_name) {
  return upper_case(identifier_of(tool_name)) + "_BASE";
}

std::string toolbox_file_name(const std::string& tool_name) {
  return lower_case(tool_name) + ".xml";
}

}  // namespace tfaot::toolkit
