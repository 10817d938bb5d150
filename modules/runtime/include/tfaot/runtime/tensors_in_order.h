// SPDX-License-Identifier: Apache-2.0
// The tensors of a call of native::Model::run(), in the model's order.
#pragma once

#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tfaot/runtime/span.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

namespace detail {

template <class C>
using ElementIn = std::remove_pointer_t<decltype(std::data(std::declval<C&>()))>;

}  // namespace detail

/// Inputs for native::Model::run(), in the model's order: anything that converts to a Span. Copies
/// no elements.
template <class... Tensors>
constexpr std::tuple<Span<const detail::ElementIn<const Tensors>>...> inputs(
    const Tensors&... tensors) noexcept {
  return {tensors...};
}

/// Outputs for native::Model::run(), in the model's order: anything that converts to a Span of
/// mutable elements.
template <class... Tensors,
          class = std::enable_if_t<
              (std::is_convertible_v<Tensors, Span<detail::ElementIn<Tensors>>> && ...)>>
constexpr std::tuple<Span<detail::ElementIn<Tensors>>...> outputs(Tensors&&... tensors) noexcept {
  return {std::forward<Tensors>(tensors)...};
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
