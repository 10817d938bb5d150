// SPDX-License-Identifier: Apache-2.0
// The activation functions that kernels apply to their results (tfaot/kernels/panels.h), as HLO
// writes them. Used by one thread.
#pragma once

#include <optional>

#include "compiler/hlo/hlo.h"
#include "tfaot/kernels/panels.h"
#include "tfaot/kernels/rows.h"

namespace tfaot::toolkit::engine {

struct LayerFunction {
  kernels::Function function = kernels::kFunctionNone;
  double above = 1, below = 1;
  xla::HloInstruction* result = nullptr;  // of the whole function

  kernels::ResultFunction of_kernel() const { return {function, above, below}; }
};

// The largest function of x that nothing else uses a part of; nothing if x is used as it is.
std::optional<LayerFunction> function_of(xla::HloInstruction& x);

// gelu as a function of results.
constexpr kernels::Function function_of_form(kernels::GeluForm form) {
  return form == kernels::kGeluTanh ? kernels::kFunctionGeluTanh : kernels::kFunctionGelu;
}

// gelu of x, in one of its forms.
struct Gelu {
  xla::HloInstruction* x;
  kernels::GeluForm form;
};
// Nothing for other values.
std::optional<Gelu> gelu_of(xla::HloInstruction& result);

}  // namespace tfaot::toolkit::engine
