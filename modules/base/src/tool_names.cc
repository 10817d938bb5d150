// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/tool_names.h"

#include <algorithm>
#include <utility>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

std::string identifier_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !is_letter_or_digit(c); }, '_');
  return text;
}

std::string name_from_path(const std::filesystem::path& model) {
  const std::filesystem::path folder = model.has_filename() ? model : model.parent_path();
  std::string name = folder.stem().string();
  const bool says_nothing = name == "saved_model" || name == "model" || name == "frozen_graph";
  if (says_nothing && folder.has_parent_path()) {
    const std::string above = folder.parent_path().filename().string();
    if (!above.empty()) name = above;
  }
  name = identifier_of(std::move(name));
  return name.empty() || is_digit(name.front()) ? "model_" + name : name;
}

std::string base_variable(const std::string& tool_name) {
  return upper_case(identifier_of(tool_name)) + "_BASE";
}

std::string toolbox_file_name(const std::string& tool_name) {
  return lower_case(tool_name) + ".xml";
}

}  // namespace tfaot::toolkit
