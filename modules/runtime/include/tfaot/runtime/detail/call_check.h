// SPDX-License-Identifier: Apache-2.0
// The checks of a call of native::Model::run(): element types at compile time, sizes at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tfaot/runtime/detail/description.h"
#include "tfaot/runtime/detail/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

// The compiler's message shows their names and arguments: Index counts from 0.
template <std::size_t Index, class Given, class Wanted>
struct InputOfRun {
  static_assert(
      std::is_same_v<Given, Wanted>,
      "run() got an input of another element type than the model's: see InputOfRun<Index, "
      "Given, Wanted>");
};
template <std::size_t Index, class Given, class Wanted>
struct OutputOfRun {
  static_assert(std::is_same_v<Given, Wanted>,
                "run() got an output of another element type than the model's: see "
                "OutputOfRun<Index, Given, Wanted>");
};

template <template <std::size_t, class, class> class Check, class Wanted, class... Given>
struct CheckTypes;
template <template <std::size_t, class, class> class Check, class... Wanted, class... Given>
struct CheckTypes<Check, TensorList<Wanted...>, Given...> {
  template <std::size_t... I>
  static constexpr std::size_t check(std::index_sequence<I...>) {
    return (std::size_t{0} + ... + sizeof(Check<I, Given, typename Wanted::Element>));
  }
  static_assert(check(std::index_sequence_for<Given...>()) <= sizeof...(Given));
};

enum class Direction : std::uint8_t { kInput, kOutput };
// A tensor's share in a call of run().
struct ElementCheck {
  Direction direction;
  std::size_t index;
  std::size_t rows;
  std::size_t elements;
  std::size_t row_elements;  // wanted
};
[[noreturn]] void wrong_elements(const Description& model, const ElementCheck& check);
// Throws Error (SizeOutOfRange) if one of the sizes is out of its range.
void check_sizes(const Description& model, const std::int64_t* sizes);
// Throws Error (InputMismatch, OutputMismatch) unless elements == rows * row_elements.
inline void check_elements(const Description& model, const ElementCheck& check) {
  std::size_t wanted = 0;
  if (__builtin_mul_overflow(check.rows, check.row_elements, &wanted) || check.elements != wanted) {
    wrong_elements(model, check);
  }
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
