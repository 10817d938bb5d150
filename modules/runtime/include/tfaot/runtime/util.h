// SPDX-License-Identifier: Apache-2.0
// The types and helpers of CMSSW's PhysicsTools/TensorFlowAOT/interface/Util.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/runtime/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// One std::vector per row.
using BoolArrays = std::vector<std::vector<bool>>;
using Int32Arrays = std::vector<std::vector<std::int32_t>>;
using Int64Arrays = std::vector<std::vector<std::int64_t>>;
using FloatArrays = std::vector<std::vector<float>>;
using DoubleArrays = std::vector<std::vector<double>>;

// As XlaCompiledCpuFunction::AllocMode, which it is in CMSSW.
enum class AllocMode : std::uint8_t {
  ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS,
  RESULTS_PROFILES_AND_TEMPS_ONLY,
};

// A function that calls another with std::integral_constant 0 to N - 1.
template <std::size_t... Index>
auto createIndexLooper(std::index_sequence<Index...>) {
  return [](auto&& f) { (f(std::integral_constant<std::size_t, Index>{}), ...); };
}
template <std::size_t N>
auto createIndexLooper() {
  return createIndexLooper(std::make_index_sequence<N>{});
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
