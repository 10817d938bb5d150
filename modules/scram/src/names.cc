// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include "tfaot/base/text.h"

namespace tfaot {

std::string lower_name(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string upper_name(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string base_name(const std::string& tool) {
  return upper_name(replace_all(tool, "-", "_")) + "_BASE";
}

}  // namespace tfaot
