// SPDX-License-Identifier: Apache-2.0
// Contiguous memory of the caller, like C++20's std::span.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Contiguous memory of the caller: pointer and number of elements. Made from a pointer and a size,
/// a C array, or anything with `data()` and `size()`: `std::vector`, `std::array`, ... Not from
/// `std::vector<bool>`, which is not contiguous. A span of mutable elements does not accept
/// temporaries. Owns nothing: the memory must outlive it.
template <class T>
class Span {
  // The element type of C, const if C is; no member if C is not contiguous memory.
  template <class C>
  using ElementOf = std::remove_pointer_t<decltype(std::data(std::declval<C&>()))>;
  template <class C>
  using EnableFor = std::enable_if_t<
      std::is_convertible_v<ElementOf<C> (*)[], T (*)[]> &&
      std::is_convertible_v<decltype(std::size(std::declval<C&>())), std::size_t> &&
      (std::is_lvalue_reference_v<C> || std::is_const_v<T>)>;

 public:
  /// No elements.
  constexpr Span() noexcept = default;
  /// `size` elements, starting at `data`.
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// All elements of a container or C array.
  template <class C, class = EnableFor<C>>
  constexpr Span(C&& container) noexcept
      : data_(std::data(container)), size_(std::size(container)) {}

  /// The first element; may be null if there is none.
  constexpr T* data() const noexcept { return data_; }
  /// Number of elements.
  constexpr std::size_t size() const noexcept { return size_; }
  /// For range-based loops.
  constexpr T* begin() const noexcept { return data_; }
  /// For range-based loops.
  constexpr T* end() const noexcept { return data_ + size_; }
  /// Element `i`, which is not checked.
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
