// SPDX-License-Identifier: Apache-2.0
// StableHLO + batch size -> XLA computation (HLO). TensorFlow's XlaCallModule settles the open
// sizes, chooses the code for CPUs and checks what the module demands of its inputs. Large
// constants are the weights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lowering/lowering.h"
#include "lowering/model_tensor.h"
#include "stablehlo/read_stablehlo.h"

namespace tfaot::toolkit::engine {

// "constant_3": the same for all modules that one program makes.
std::string constant_name(std::size_t constant);

// The references must outlive the object. Errors: types and shapes that cannot be compiled.
Result<std::unique_ptr<Lowering>> make_stablehlo_lowering(const StableHloModule& module,
                                                          const std::vector<ModelTensor>& inputs,
                                                          const std::vector<ModelTensor>& outputs,
                                                          const LoweringOptions& options);

}  // namespace tfaot::toolkit::engine
