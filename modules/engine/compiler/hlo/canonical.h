// SPDX-License-Identifier: Apache-2.0
// Makes the HLO of equal computations equal in every byte: ids and names follow the order in which
// the operations depend on each other, and traces of the model (its layers' names, lines of its
// source) are removed. So code can be cached by the hash, and nothing of the model that was
// compiled first gets into the package of the next. Pure functions.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "xla/client/xla_computation.h"
#include "xla/hlo/ir/hlo_module.h"

namespace tfaot::toolkit::engine {

// Names of the model's nodes are for people who look at the code; their computation has another
// hash.
enum class Traces { kRemoved, kNames };
Result<xla::XlaComputation> canonical(const xla::XlaComputation& computation,
                                      Traces traces = Traces::kRemoved);

// REQUIRES, for both: the computation is canonical().
std::string hlo_sha256(const xla::XlaComputation& computation);
// For people: one operation a line. With all constants, such as the sizes of kernel calls, unless
// they hold thousands of numbers.
Result<std::string> hlo_text(const xla::XlaComputation& computation);
enum class Constants { kSmall, kAll };  // kSmall: of at most ten numbers
std::string hlo_text(const xla::HloModule& module, Constants constants = Constants::kSmall);

}  // namespace tfaot::toolkit::engine
