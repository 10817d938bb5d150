// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_description.h"

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

std::string sizes_text(const std::vector<std::int64_t>& shape) {
  DescribedTensor tensor;
  tensor.shape = shape;
  return sizes_text(tensor);
}

std::string sizes_text(const DescribedTensor& tensor) {
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::string name = i < tensor.dimensions.size() ? tensor.dimensions[i] : "";
    sizes.push_back(tensor.shape[i] >= 0 ? std::to_string(tensor.shape[i])
                    : name.empty()       ? "?"
                                         : name);
  }
  return join(sizes, ", ");
}

}  // namespace tfaot::toolkit
