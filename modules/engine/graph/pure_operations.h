// SPDX-License-Identifier: Apache-2.0
// What TensorFlow may compute on this machine while a model is compiled. A model may come from
// anywhere. TensorFlow folds constants by running its own kernels, and some of these read and write
// files, open connections or keep state. Only operations in these lists reach TensorFlow. Pure
// functions.
#pragma once

#include <string>
#include <vector>

namespace tensorflow {
class KernelDef;
}

namespace tfaot::toolkit::engine {

// Computes its outputs from its inputs and attributes, and does nothing else.
bool is_pure(const std::string& operation);

// XLA compiles it, or it connects parts of a graph (functions, loops and branches of TensorFlow 1).
bool is_compiled(const std::string& operation);

// It connects parts of a graph; Placeholder too.
bool connects(const std::string& operation);

// XLA has a kernel, but would compile it to a call of a function whose name the model chooses.
bool calls_by_name(const std::string& operation);

// XLA's kernels of the operation: several for different types, or none.
std::vector<const tensorflow::KernelDef*> kernels_of(const std::string& operation);

// All that have a kernel, those that call by name too. Sorted.
std::vector<std::string> operations_with_kernel();

}  // namespace tfaot::toolkit::engine
