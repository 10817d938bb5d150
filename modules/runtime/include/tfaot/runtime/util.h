// SPDX-License-Identifier: Apache-2.0
// The types and helpers of CMSSW's PhysicsTools/TensorFlowAOT/interface/Util.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

using BoolArrays = std::vector<std::vector<bool>>;           ///< A vector for each row.
using Int32Arrays = std::vector<std::vector<std::int32_t>>;  ///< A vector for each row.
using Int64Arrays = std::vector<std::vector<std::int64_t>>;  ///< A vector for each row.
using FloatArrays = std::vector<std::vector<float>>;         ///< A vector for each row.
using DoubleArrays = std::vector<std::vector<double>>;       ///< A vector for each row.

/// Like XlaCompiledCpuFunction::AllocMode, which CMSSW uses.
enum class AllocMode : std::uint8_t {
  ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS,  ///< arguments have memory
  RESULTS_PROFILES_AND_TEMPS_ONLY,            ///< arguments have none
};

/// A function that calls another with `std::integral_constant` of each index.
template <std::size_t... Index>
auto createIndexLooper(std::index_sequence<Index...>) {
  return [](auto&& f) { (f(std::integral_constant<std::size_t, Index>{}), ...); };
}
/// A function that calls another with `std::integral_constant` 0 to N - 1.
template <std::size_t N>
auto createIndexLooper() {
  return createIndexLooper(std::make_index_sequence<N>{});
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
