// SPDX-License-Identifier: Apache-2.0
// What the compiler says of a call of native::Model::run() with tensors of other element types than
// the model's. Nothing here is left at run time.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "tfaot/runtime/tensor.h"

namespace tfaot {
inline namespace v1 {
namespace detail {

// Their names and arguments stand in the compiler's message: Index counts from 0.
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

}  // namespace detail
}  // namespace v1
}  // namespace tfaot
