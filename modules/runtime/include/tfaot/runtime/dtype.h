// SPDX-License-Identifier: Apache-2.0
// The types of a tensor's elements: their names, their C++ types, their sizes. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tfaot/runtime/detail/abi.h"
#include "tfaot/runtime/half.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// The type of a tensor's elements.
enum class DType : std::uint8_t {
  kBool,      ///< `bool`
  kInt8,      ///< `std::int8_t`
  kInt16,     ///< `std::int16_t`
  kInt32,     ///< `std::int32_t`
  kInt64,     ///< `std::int64_t`
  kUint8,     ///< `std::uint8_t`
  kUint16,    ///< `std::uint16_t`
  kUint32,    ///< `std::uint32_t`
  kUint64,    ///< `std::uint64_t`
  kFloat16,   ///< `tfaot::float16`
  kBfloat16,  ///< `tfaot::bfloat16`
  kFloat32,   ///< `float`
  kFloat64    ///< `double`
};

namespace detail {

template <class... T>
struct TypeList {
  static constexpr std::size_t kSize = sizeof...(T);
};

// The C++ types, in the order of DType.
using ElementTypes =
    TypeList<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
             std::uint16_t, std::uint32_t, std::uint64_t, float16, bfloat16, float, double>;
inline constexpr std::size_t kDTypeCount = ElementTypes::kSize;

// A type as a value.
template <class T>
struct ElementType {
  using Type = T;
};

// The position in the list; its size if the type is not in it.
template <class T, class... Types>
constexpr std::size_t position_of(TypeList<Types...>) noexcept {
  std::size_t position = 0;
  static_cast<void>(((std::is_same_v<T, Types> || (++position, false)) || ...));
  return position;
}

template <class T>
constexpr DType dtype_of() noexcept {
  constexpr std::size_t kPosition = position_of<T>(ElementTypes());
  static_assert(kPosition < kDTypeCount,
                "no tensor has elements of this C++ type: see tfaot::DType");
  return static_cast<DType>(kPosition);
}

template <class T, class Function>
constexpr decltype(auto) call_with(Function& function) {
  return function(ElementType<T>());
}
template <class Function, class... Types>
constexpr decltype(auto) visit_type(std::size_t position, Function& function, TypeList<Types...>) {
  using Call = decltype(&call_with<bool, Function>);
  constexpr Call kCalls[] = {&call_with<Types, Function>...};
  return kCalls[position](function);
}

// Calls `function(ElementType<T>())`, where T is the C++ type: the switch over all types.
// REQUIRES: dtype is an enumerator.
template <class Function>
constexpr decltype(auto) visit_dtype(DType dtype, Function&& function) {
  return visit_type(static_cast<std::size_t>(dtype), function, ElementTypes());
}

}  // namespace detail

/// The DType of a C++ type.
template <class T>
inline constexpr DType kDTypeOf = detail::dtype_of<T>();

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) noexcept {
  return detail::visit_dtype(dtype,
                             [](auto type) { return sizeof(typename decltype(type)::Type); });
}

/// The name as in configs and messages, such as "float32".
constexpr const char* name_of(DType dtype) noexcept {
  constexpr const char* kNames[] = {"bool",     "int8",    "int16",  "int32",  "int64",
                                    "uint8",    "uint16",  "uint32", "uint64", "float16",
                                    "bfloat16", "float32", "float64"};
  static_assert(sizeof kNames / sizeof *kNames == detail::kDTypeCount);
  return kNames[static_cast<std::size_t>(dtype)];
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
