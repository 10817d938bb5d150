// SPDX-License-Identifier: Apache-2.0
#include "version_option.h"

#include <algorithm>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

std::string check_version(const std::string& version) {
  const bool fits = !version.empty() && is_letter_or_digit(version.front()) &&
                    std::all_of(version.begin(), version.end(), is_name_character);
  return fits ? "" : "a letter or digit, then letters, digits, '.', '_', '+' and '-'";
}

}  // namespace tfaot::toolkit
