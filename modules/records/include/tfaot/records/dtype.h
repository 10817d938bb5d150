// SPDX-License-Identifier: Apache-2.0
// The element types of tensors, which are the runtime's: their words in files and messages, their
// C++ types. What depends on the type asks visit_dtype() instead of a switch of its own. Pure
// functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "tfaot/records/words.h"
#include "tfaot/runtime/dtype.h"

namespace tfaot::toolkit {

using ::tfaot::DType;
using ::tfaot::size_of;

// visit_dtype(dtype, [&]<class T>(ElementType<T>) { ... }) runs the function with the C++ type.
using ::tfaot::detail::ElementType;
using ::tfaot::detail::visit_dtype;

template <>
inline constexpr auto kWords<DType> = [] {
  std::array<Word<DType>, ::tfaot::detail::kDTypeCount> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    words[i] = {dtype, name_of(dtype)};
  }
  return words;
}();

// How bytes are read: a byte of a file need not be a bool.
template <class T>
using StoredAs = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

// Real numbers, not whole ones or truth values.
template <class T>
inline constexpr bool kIsReal = !std::numeric_limits<T>::is_integer;
constexpr bool is_real(DType dtype) {
  return visit_dtype(dtype, []<class T>(ElementType<T>) { return kIsReal<T>; });
}

// Every number of one type is one of the other, too. Truth values are no numbers.
template <class From, class To>
inline constexpr bool kKeepsNumbers = [] {
  using F = std::numeric_limits<From>;
  using T = std::numeric_limits<To>;
  if (std::is_same_v<From, bool> || std::is_same_v<To, bool>) return std::is_same_v<From, To>;
  return F::is_integer == T::is_integer && F::digits <= T::digits &&
         F::max_exponent <= T::max_exponent && (T::is_signed || !F::is_signed);
}();

// In generated headers: "std::int32_t".
inline std::string cpp_type_name(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
    case DType::kBfloat16:
      return std::string("tfaot::") + name_of(dtype);
    default:
      return std::string("std::") + name_of(dtype) + "_t";
  }
}

}  // namespace tfaot::toolkit
