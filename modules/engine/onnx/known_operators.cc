// SPDX-License-Identifier: Apache-2.0
#include "onnx/known_operators.h"

#include "onnx/operators.h"

namespace tfaot::toolkit::engine {

std::vector<CheckedOperation> known_onnx_operators() {
  std::vector<CheckedOperation> rows;
  for (const OnnxOperator& known : all_operators()) {
    CheckedOperation row;
    row.operation = known.domain.empty() ? known.name : known.domain + "." + known.name;
    row.oldest_opset = known.since;
    for (const int operand : known.known)
      row.constant_inputs.push_back(std::to_string(operand + 1));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tfaot::toolkit::engine
