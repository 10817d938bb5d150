// SPDX-License-Identifier: Apache-2.0
// The element types of tensors: their names in files and messages, their C++ types, their sizes.
// Pure functions.
#pragma once

#include <array>
#include <cstddef>

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class DType { kBool, kInt32, kInt64, kFloat32, kFloat64 };

struct DTypeInfo {
  DType value;
  const char* word;      // in configs, records and manifests
  const char* cpp_type;  // in generated headers
  std::size_t size;      // bytes
};

template <>
inline constexpr auto kWords<DType> = std::to_array<DTypeInfo>({
    {DType::kBool, "bool", "bool", 1},
    {DType::kInt32, "int32", "std::int32_t", 4},
    {DType::kInt64, "int64", "std::int64_t", 8},
    {DType::kFloat32, "float32", "float", 4},
    {DType::kFloat64, "float64", "double", 8},
});

// REQUIRES: dtype is an enumerator.
constexpr const DTypeInfo& dtype_info(DType dtype) {
  return kWords<DType>[static_cast<std::size_t>(dtype)];
}
constexpr const char* cpp_type_name(DType dtype) { return dtype_info(dtype).cpp_type; }
constexpr std::size_t dtype_size(DType dtype) { return dtype_info(dtype).size; }

}  // namespace tfaot::toolkit
