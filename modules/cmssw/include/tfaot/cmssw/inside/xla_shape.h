// SPDX-License-Identifier: Apache-2.0
// The type of a tensor's shape, which only newer versions of XlaCompiledCpuFunction have.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// TensorFlow's type for a shape. For older versions without shapes: the same members, which nothing
// reads.
template <class Function, class = void>
struct ShapeInfoOf {
  struct Type {
    const std::int32_t* dimensions;
    std::int32_t num_dimensions;
  };
};
template <class Function>
struct ShapeInfoOf<Function, std::void_t<typename Function::ShapeInfo>> {
  using Type = typename Function::ShapeInfo;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
