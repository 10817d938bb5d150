// SPDX-License-Identifier: Apache-2.0
// Constants on their way out of a model's code: a call without operands in place of each, which
// neither TensorFlow nor XLA can fold, merge or move into a loop. In the end it is a parameter of
// the HLO, so no name depends on the batch size or on a value. Used by one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/hlo/lowering.h"

namespace tfaot::toolkit::engine {

std::string constant_call(std::size_t constant);
// Nothing for calls of other functions.
std::optional<std::size_t> constant_of_call(std::string_view target);

struct CalledConstants {
  std::vector<xla::Shape> shapes;
  std::function<Result<Value>(std::size_t constant)> read;
  // The parameter of the first constant; the others follow. Nothing: they are part of the code.
  std::optional<std::int64_t> parameter;
};

// Weights instead of the calls, also in loops and branches. What a loop needs to go on stays a
// constant there. Calls of other functions, and of other shapes, stay.
Status put_constants(xla::HloModule& module, const CalledConstants& constants);

}  // namespace tfaot::toolkit::engine
