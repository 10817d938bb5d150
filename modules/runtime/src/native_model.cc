// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/native_model.h"

#include <string>

#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace v1 {
namespace detail {

void check_elements(const Description& model, Direction direction, std::size_t index,
                    std::size_t rows, std::size_t elements) {
  const bool input = direction == Direction::kInput;
  const TensorInfo& info = input ? model.inputs[index] : model.outputs[index];
  std::size_t wanted = 0;
  if (!__builtin_mul_overflow(rows, info.row_elements, &wanted) && elements == wanted) return;
  throw Error(input ? Category::kInputMismatch : Category::kOutputMismatch,
              std::string("model '") + model.name + "': " + (input ? "input " : "output ") +
                  std::to_string(index) + " ('" + info.name + "') holds " +
                  std::to_string(elements) + " elements, but " + std::to_string(rows) +
                  " rows of " + std::to_string(info.row_elements) + " are expected");
}

}  // namespace detail
}  // namespace v1
}  // namespace tfaot
