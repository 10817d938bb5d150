// SPDX-License-Identifier: Apache-2.0
// The arguments of native::Model::run(): a model's inputs, or outputs, by name and in order.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "tfaot/runtime/detail/tensor.h"
#include "tfaot/runtime/span.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

template <class List>
struct Spans;
template <class... Tensors>
struct Spans<TensorList<Tensors...>> {
  // Hidden: otherwise g++ makes one symbol of it for the whole process, and keeps its library
  // loaded.
  TFAOT_HIDDEN static constexpr std::size_t kRowElements[] = {Tensors::kRowElements..., 0};
  using Const = std::tuple<Span<const typename Tensors::Element>...>;
  using Mutable = std::tuple<Span<typename Tensors::Element>...>;
};

// The `Inputs` or `Outputs` of a generated class: a struct of spans with the list as `Types`. In
// headers of tfaot 0.2 it is the list itself; such tensors have no names here.
template <class Tensors, class = void>
struct TensorsOf {
  using Types = Tensors;
  using Inputs = typename Spans<Tensors>::Const;
  using Outputs = typename Spans<Tensors>::Mutable;
};
template <class Tensors>
struct TensorsOf<Tensors, std::void_t<typename Tensors::Types>> {
  using Types = typename Tensors::Types;
  using Inputs = Tensors;
  using Outputs = Tensors;
};

// The `Sizes` and `Offsets` of a generated class whose dimensions are free. No others have values.
// A class may itself be called one of these, which is then a name in it.
struct NoSizes {
  NoSizes() = delete;
};
template <class M, class = void>
struct SizesOf {
  static constexpr bool kFree = false;
  using Sizes = NoSizes;
  using Offsets = NoSizes;
};
template <class M>
struct SizesOf<M, std::void_t<typename M::Sizes, typename M::Offsets>> {
  static constexpr bool kFree = true;
  using Sizes = typename M::Sizes;
  using Offsets = typename M::Offsets;
};

// A tuple for std::get<>(), in the model's order.
template <class Named>
constexpr auto in_order(const Named& named) noexcept -> decltype(named.in_order()) {
  return named.in_order();
}
template <class... T>
constexpr const std::tuple<T...>& in_order(const std::tuple<T...>& tensors) noexcept {
  return tensors;
}

// False for a model whose class says that it has no batch.
template <class M, class = void>
inline constexpr bool kHasBatch = true;
template <class M>
inline constexpr bool kHasBatch<M, std::void_t<decltype(M::kHasBatch)>> = M::kHasBatch;

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
