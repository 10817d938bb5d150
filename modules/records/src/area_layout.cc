// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/area_layout.h"

#include <fmt/format.h>

namespace tfaot::toolkit {

std::string in_area(std::string_view path, const AreaWords& words) {
  return fmt::format(fmt::runtime(path), fmt::arg("tool", words.tool),
                     fmt::arg("version", words.version), fmt::arg("toolbox", words.toolbox),
                     fmt::arg("file", words.file));
}

}  // namespace tfaot::toolkit
