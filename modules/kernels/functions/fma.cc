// SPDX-License-Identifier: Apache-2.0
// x * y + z, rounded once, for CPUs without an instruction for it.
#include "parts.h"
#include "tfaot/kernels/functions.h"

namespace {

// |x| = number * 2^exponent, with the highest bit of the number at bit 124: of 53 bits, or of 106.
struct Aligned {
  Wide number;
  std::int64_t exponent;
};

constexpr int kTop = 124;

inline Aligned aligned(Wide number, std::int64_t exponent) {
  const auto high = static_cast<std::uint64_t>(number >> 64);
  const auto low = static_cast<std::uint64_t>(number);
  const int first = high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
  return {number << (kTop - first), exponent - (kTop - first)};
}

// What is shifted out is kept in the last bit, so that rounding knows of it.
inline Wide shifted(Wide number, std::int64_t by) {
  if (by > kTop) return 1;
  const Wide left = number >> by;
  return left | Wide{(left << by) != number};
}

inline bool is_finite(double x) { return size_of(x) < kInfinity; }

}  // namespace

double tfaot_fma_f64(double x, double y, double z) {
  if (!is_finite(x) || !is_finite(y) || x == 0 || y == 0) return x * y + z;
  if (!is_finite(z)) return z;
  const Whole a = whole(x), b = whole(y), c = whole(z);
  const Aligned product = aligned(Wide{a.number} * b.number, a.exponent + b.exponent - 2 * 1074);
  const std::uint64_t sign = (bits_of(x) ^ bits_of(y)) & kSignBit;
  bool is_negative = sign != 0;
  Wide sum = product.number;
  std::int64_t exponent = product.exponent;
  if (z != 0) {
    Aligned other = aligned(c.number, c.exponent - 1074);
    const std::int64_t apart = exponent - other.exponent;
    if (apart >= 0) {
      other.number = shifted(other.number, apart);
    } else {
      sum = shifted(sum, -apart);
      exponent = other.exponent;
    }
    if (is_negative == ((bits_of(z) & kSignBit) != 0)) {
      sum += other.number;
    } else if (sum >= other.number) {
      sum -= other.number;
      if (sum == 0) return 0;
    } else {
      sum = other.number - sum;
      is_negative = !is_negative;
    }
  }
  // 62 bits that are rounded to 53 by the conversion.
  const Aligned result = aligned(sum >> 1 | (sum & 1), exponent + 1);
  const auto number = static_cast<std::int64_t>(shifted(result.number, kTop - 61));
  const double size =
      tfaot_ldexp_f64(static_cast<double>(number), static_cast<int>(result.exponent) + kTop - 61);
  return is_negative ? -size : size;
}

// The product is exact in double. The sum's last bit is made odd if the sum is not exact, so that
// it is not rounded to the middle between two floats.
float tfaot_fma_f32(float x, float y, float z) {
  const double product = double{x} * double{y};
  const Pair sum = sum_of(product, double{z});
  std::uint64_t bits = bits_of(sum.high);
  if ((sum.low < 0 || sum.low > 0) && (bits & 1) == 0) {
    bits += (sum.low > 0) == (sum.high > 0) ? 1 : ~std::uint64_t{0};
  }
  return static_cast<float>(double_of(bits));
}
