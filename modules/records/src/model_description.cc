// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_description.h"

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

std::string sizes_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(size < 0 ? "?" : std::to_string(size));
  return join(sizes, ", ");
}

}  // namespace tfaot::toolkit
