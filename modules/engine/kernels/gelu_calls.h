// SPDX-License-Identifier: Apache-2.0
// gelu as any format writes it; row_calls.h replaces it. Used by one thread.
#pragma once

#include <optional>

#include "hlo/hlo.h"
#include "tfaot/kernels/functions.h"
#include "tfaot/kernels/rows.h"

namespace tfaot::toolkit::engine {

// gelu of x, in one of its forms.
struct Gelu {
  xla::HloInstruction* x;
  kernels::GeluForm form;
};
// Nothing: the value is another one.
std::optional<Gelu> gelu_of(xla::HloInstruction& result);

// As a function of results.
constexpr kernels::Function function_of_form(kernels::GeluForm form) {
  return form == kernels::kGeluTanh ? kernels::kFunctionGeluTanh : kernels::kFunctionGelu;
}

}  // namespace tfaot::toolkit::engine
