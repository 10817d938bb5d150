// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tfaot/base/hash.h"

namespace tfaot::toolkit {
namespace {

// The place of a number among all numbers of its type, from the lowest to the largest: neighbours
// differ by one, and -0 is 0.
template <class Bits, class Real>
Bits rank_of(Real number) {
  const auto bits = std::bit_cast<Bits>(number);
  return bits < 0 ? static_cast<Bits>(std::numeric_limits<Bits>::min() - bits) : bits;
}

template <class Number>
std::uint64_t ulps_between(Number a, Number b) {
  if constexpr (kIsReal<Number>) {
    using Bits =
        std::conditional_t<sizeof(Number) == 8, std::int64_t,
                           std::conditional_t<sizeof(Number) == 4, std::int32_t, std::int16_t>>;
    const auto first = static_cast<std::uint64_t>(rank_of<Bits>(a));
    const auto second = static_cast<std::uint64_t>(rank_of<Bits>(b));
    return a < b ? second - first : first - second;
  }
  return 0;
}

// Not infinite, so that it can be written as JSON.
double distance(double a, double b) {
  return std::min(std::abs(a - b), std::numeric_limits<double>::max());
}
// Of whole numbers of 64 bits: their difference may have one more.
template <class Whole>
double distance(Whole a, Whole b) {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
}

template <class Number>
ArrayDifference compare_as(const std::string& bytes, const std::string& reference) {
  using Wide =
      std::conditional_t<kIsReal<Number>, double,
                         std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>;
  ArrayDifference found;
  found.numbers = bytes.size() / sizeof(Number);
  std::uint64_t finite = 0;
  double sum = 0;
  for (std::uint64_t i = 0; i < found.numbers; ++i) {
    const auto a = number_at<Number>(bytes, i);
    const auto b = number_at<Number>(reference, i);
    const auto real_a = static_cast<double>(a);
    const auto real_b = static_cast<double>(b);
    const bool is_equal = a == b || (std::isnan(real_a) && std::isnan(real_b));
    if (!is_equal) ++found.unequal;
    if (std::isfinite(real_b)) found.scale = std::max(found.scale, std::abs(real_b));
    if (!std::isfinite(real_a) || !std::isfinite(real_b)) {
      if (is_equal) continue;
      if (found.nonfinite++ == 0) found.place = i;
      continue;
    }
    ++finite;
    const double apart = distance(static_cast<Wide>(a), static_cast<Wide>(b));
    sum += apart;
    if (apart <= found.largest) continue;
    found.largest = apart;
    found.ulps = ulps_between(a, b);
    if (found.nonfinite == 0) found.place = i;
  }
  if (finite > 0) found.mean = std::min(sum / static_cast<double>(finite), found.largest);
  return found;
}

template <class Number>
BitsDifference compare_bits_as(const std::string& bytes, const std::string& reference) {
  BitsDifference found;
  found.numbers = bytes.size() / sizeof(Number);
  for (std::uint64_t i = 0; i < found.numbers; ++i) {
    const std::size_t at = i * sizeof(Number);
    if (bytes.compare(at, sizeof(Number), reference, at, sizeof(Number)) == 0) continue;
    const auto a = number_at<Number>(bytes, i);
    const auto b = number_at<Number>(reference, i);
    const auto real_a = static_cast<double>(a);
    const auto real_b = static_cast<double>(b);
    if (std::isnan(real_a) && std::isnan(real_b)) continue;
    ++found.unequal;
    if (std::isfinite(real_a) && std::isfinite(real_b)) {
      found.ulps = std::max(found.ulps, ulps_between(a, b));
    } else {
      ++found.nonfinite;
    }
  }
  return found;
}

Array with_one_nan(Array array) {
  visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
    if constexpr (kIsReal<T>) {
      for (std::size_t i = 0; i < array.bytes.size() / sizeof(T); ++i) {
        if (!std::isnan(static_cast<double>(number_at<T>(array.bytes, i)))) continue;
        set_number<T>(array.bytes, i, std::numeric_limits<T>::quiet_NaN());
      }
    }
  });
  return array;
}

template <class Number>
bool any_is_finite(const std::string& bytes) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(Number); ++i) {
    if (std::isfinite(number_at<Number>(bytes, i))) return true;
  }
  return false;
}

}  // namespace

bool has_numbers(const Array& array) {
  if (array.dtype == DType::kFloat32) return any_is_finite<float>(array.bytes);
  if (array.dtype == DType::kFloat64) return any_is_finite<double>(array.bytes);
  return !array.bytes.empty();
}

ArrayDifference compare_arrays(const Array& array, const Array& reference) {
  return visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
    return compare_as<StoredAs<T>>(array.bytes, reference.bytes);
  });
}

BitsDifference compare_bits(const Array& array, const Array& reference) {
  return visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
    return compare_bits_as<StoredAs<T>>(array.bytes, reference.bytes);
  });
}

std::string sha256_of_arrays(const std::vector<Array>& arrays) {
  Sha256 sha256;
  for (const Array& array : arrays) sha256.update(with_one_nan(array).bytes);
  return sha256.hex_digest();
}

}  // namespace tfaot::toolkit
