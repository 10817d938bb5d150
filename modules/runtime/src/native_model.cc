// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/native_model.h"

#include <string>

#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace v1 {
namespace detail {

void wrong_elements(const Description& model, const ElementCheck& check) {
  const bool input = check.direction == Direction::kInput;
  const TensorInfo& info = input ? model.inputs[check.index] : model.outputs[check.index];
  throw Error(input ? Category::kInputMismatch : Category::kOutputMismatch,
              std::string("model '") + model.name + "': " + (input ? "input " : "output ") +
                  std::to_string(check.index) + " ('" + info.name + "') holds " +
                  std::to_string(check.elements) + " elements, but " + std::to_string(check.rows) +
                  " rows of " + std::to_string(info.row_elements) + " are expected");
}

}  // namespace detail
}  // namespace v1
}  // namespace tfaot
