// SPDX-License-Identifier: Apache-2.0
// Stands in for CMSSW's.
#pragma once
// CMSSW's guard, which our headers look at.
#define PHYSICSTOOLS_TENSORFLOWAOT_UTIL_H

#include <cstdint>
#include <vector>

#include "tensorflow/compiler/tf2xla/xla_compiled_cpu_function.h"

namespace tfaot {

using AllocMode = tensorflow::XlaCompiledCpuFunction::AllocMode;
using BoolArrays = std::vector<std::vector<bool>>;
using Int32Arrays = std::vector<std::vector<std::int32_t>>;
using Int64Arrays = std::vector<std::vector<std::int64_t>>;
using FloatArrays = std::vector<std::vector<float>>;
using DoubleArrays = std::vector<std::vector<double>>;

}  // namespace tfaot
