// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/edge_inputs.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tfaot/arrays/fill.h"

namespace tfaot::toolkit {
namespace {

constexpr double kLargeTimes = 10'000;

bool has_reals(const TensorSpec& tensor) { return is_real(tensor.dtype); }
bool has_wholes(const TensorSpec& tensor) {
  return !is_real(tensor.dtype) && tensor.dtype != DType::kBool;
}

// Replaces each number by `change(number)`.
template <class Number, class Change>
void change_all(Array& array, Change change) {
  for (std::size_t at = 0; at < array.bytes.size(); at += sizeof(Number)) {
    Number number{};
    std::memcpy(&number, array.bytes.data() + at, sizeof number);
    number = change(number);
    std::memcpy(array.bytes.data() + at, &number, sizeof number);
  }
}

// Puts +value or -value at one place of each row: another place and the other sign in the next row.
template <class Real>
void set_one_of_each_row(Array& array, Real value) {
  const auto rows = static_cast<std::size_t>(array.shape.front());
  const std::size_t width = rows == 0 ? 0 : array.bytes.size() / sizeof(Real) / rows;
  for (std::size_t row = 0; width > 0 && row < rows; ++row) {
    const Real number(row % 2 == 0 ? value : -value);
    std::memcpy(array.bytes.data() + (row * width + row % width) * sizeof(Real), &number,
                sizeof number);
  }
}

template <class Real>
void change_reals(Array& array, InputKind kind) {
  using Limits = std::numeric_limits<Real>;
  switch (kind) {
    case InputKind::kLarge:
      return change_all<Real>(array,
                              [](Real number) { return static_cast<Real>(number * kLargeTimes); });
    case InputKind::kHuge:
      return set_one_of_each_row(array, static_cast<Real>(Limits::max() / 2));
    case InputKind::kDenormal:
      return change_all<Real>(
          array, [](Real number) { return static_cast<Real>(number * Limits::min()); });
    case InputKind::kNan:
      return set_one_of_each_row<Real>(array, Limits::quiet_NaN());
    case InputKind::kInfinity:
      return set_one_of_each_row<Real>(array, Limits::infinity());
    default:
      return;
  }
}

template <class Whole>
void change_wholes(Array& array, InputKind kind) {
  using Limits = std::numeric_limits<Whole>;
  if (kind == InputKind::kLargest) change_all<Whole>(array, [](Whole) { return Limits::max(); });
  if (kind == InputKind::kSmallest) change_all<Whole>(array, [](Whole) { return Limits::min(); });
}

}  // namespace

std::vector<InputKind> kinds_of_inputs(const std::vector<TensorSpec>& tensors) {
  std::vector<InputKind> kinds = {InputKind::kRandom, InputKind::kZeros, InputKind::kOnes};
  if (std::ranges::any_of(tensors, has_reals)) {
    kinds.insert(kinds.end(), {InputKind::kLarge, InputKind::kHuge, InputKind::kDenormal,
                               InputKind::kNan, InputKind::kInfinity});
  }
  if (std::ranges::any_of(tensors, has_wholes)) {
    kinds.insert(kinds.end(), {InputKind::kLargest, InputKind::kSmallest});
  }
  return kinds;
}

std::vector<Array> edge_arrays(const std::vector<TensorSpec>& tensors, const EdgeOptions& options) {
  const Filling filling = options.kind == InputKind::kZeros  ? Filling::kZeros
                          : options.kind == InputKind::kOnes ? Filling::kOnes
                                                             : Filling::kRandom;
  std::vector<Array> arrays =
      filled_arrays(tensors, {.filling = filling, .rows = options.rows, .seed = options.seed});
  for (Array& array : arrays) {
    visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
      if constexpr (kIsReal<T>) {
        change_reals<T>(array, options.kind);
      } else if constexpr (!std::is_same_v<T, bool>) {
        change_wholes<T>(array, options.kind);
      }
    });
  }
  return arrays;
}

}  // namespace tfaot::toolkit
