// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"

namespace tfaot {

std::string base_name(const std::string& tool) {
  return upper_case(replace_all(tool, "-", "_")) + "_BASE";
}

}  // namespace tfaot
