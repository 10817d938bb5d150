// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/native_model.h"

#include <string>

#include "negative_rows.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

void wrong_elements(const Description& model, const ElementCheck& check) {
  const bool input = check.direction == Direction::kInput;
  const TensorInfo& info = input ? model.inputs[check.index] : model.outputs[check.index];
  const Category category = input ? Category::kInputMismatch : Category::kOutputMismatch;
  const std::string negative = negative_rows_message(model.name, check.rows);
  if (!negative.empty()) throw Error(category, negative);
  throw Error(category, std::string("model '") + model.name +
                            "': " + (input ? "input " : "output ") + std::to_string(check.index) +
                            " ('" + info.name + "') holds " + std::to_string(check.elements) +
                            " elements, but " + std::to_string(check.rows) + " rows of " +
                            std::to_string(check.row_elements) + " are expected" +
                            (check.elements == 0 ? "; was it left out?" : ""));
}

void check_sizes(const Description& model, const std::int64_t* sizes) {
  for (std::size_t i = 0; i < model.dimension_count; ++i) {
    const FreeDimension& free = model.dimensions[i];
    if (sizes[i] >= free.smallest && sizes[i] <= free.largest) continue;
    throw Error(Category::kSizeOutOfRange,
                std::string("model '") + model.name + "': the size of '" + free.name + "' is " +
                    std::to_string(sizes[i]) + ", but the code is for " +
                    std::to_string(free.smallest) + " to " + std::to_string(free.largest));
  }
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
