// SPDX-License-Identifier: Apache-2.0
// The element types of tensors: their names in files and messages, their C++ types, their sizes.
// Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "tfaot/compile/compile_types.h"

namespace tfaot::toolkit {

struct DTypeInfo {
  DType dtype;
  const char* name;      // in configs, records and manifests
  const char* cpp_type;  // in generated headers
  std::size_t size;      // bytes
};

inline constexpr std::array<DTypeInfo, 5> kDTypes = {{
    {DType::kBool, "bool", "bool", 1},
    {DType::kInt32, "int32", "std::int32_t", 4},
    {DType::kInt64, "int64", "std::int64_t", 8},
    {DType::kFloat32, "float32", "float", 4},
    {DType::kFloat64, "float64", "double", 8},
}};

// REQUIRES: dtype is an enumerator.
constexpr const DTypeInfo& dtype_info(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}
constexpr const char* dtype_name(DType dtype) { return dtype_info(dtype).name; }
constexpr const char* cpp_type_name(DType dtype) { return dtype_info(dtype).cpp_type; }
constexpr std::size_t dtype_size(DType dtype) { return dtype_info(dtype).size; }

constexpr std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& info : kDTypes) {
    if (name == info.name) return info.dtype;
  }
  return std::nullopt;
}

}  // namespace tfaot::toolkit
