// SPDX-License-Identifier: Apache-2.0
// Fourier transforms as products with constant matrices, which kernels compute. XLA calls a library
// that asks for memory and takes a lock.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/hlo/build.h"
#include "compiler/hlo/passes.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::int64_t kLongestProduct = 16;        // one matrix; longer ones are divided
constexpr std::int64_t kLongestPrimeProduct = 128;  // a longer prime number is a convolution

// cos(2 pi k / n); those that differ in their sign alone have the same digits.
double cosine_of_turn(std::int64_t k, std::int64_t n) {
  k = std::abs(k) % n;
  k = std::min(k, n - k);
  if (4 * k == n) return 0;
  if (4 * k > n) return -cosine_of_turn(n - 2 * k, 2 * n);
  return std::cos(2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
}

using Index = absl::Span<const std::int64_t>;

// A constant of the type of x.
template <typename Number>
HloInstruction* numbers_next_to(HloInstruction* x, Index sizes, Number number) {
  xla::Literal values(shape_of(xla::F64, sizes));
  values.Populate<double>(number).IgnoreError();
  return constant_next_to(x, values.Convert(type_of(*x)).value());
}

// Complex numbers are two numbers along a dimension, their parts.
HloInstruction* times_complex(HloInstruction* x, HloInstruction* factors, std::int64_t parts) {
  const auto spread = [&](HloInstruction* of_real, HloInstruction* of_imaginary) {
    return broadcast(concatenate({of_real, of_imaginary}, parts - 1), x->shape().dimensions(),
                     counted(x->shape().rank() - 1, 1));
  };
  HloInstruction* const real = slice_along(factors, parts - 1, 0, 1);
  HloInstruction* const imaginary = slice_along(factors, parts - 1, 1, 1);
  return binary(kAdd, binary(kMultiply, x, spread(real, real)),
                binary(kMultiply, reverse(x, {parts}), spread(negate(imaginary), imaginary)));
}

class Transform {
 public:
  Transform(const HloInstruction& origin, bool is_inverse)
      : origin_(origin), is_inverse_(is_inverse) {}

  // Transforms the last dimension of [rows, parts, length], of real numbers if there is one part.
  HloInstruction* of(HloInstruction* x, std::int64_t parts = 2) const {
    const std::int64_t rows = size_of(*x, 0), from = size_of(*x, 1), length = size_of(*x, 2);
    const std::int64_t columns = divisor(length), rest = length / columns;
    if (length <= kLongestProduct || (columns == 1 && length <= kLongestPrimeProduct)) {
      HloInstruction* const factors =
          numbers_next_to(x, {from, length, parts, length}, [&](Index i) {
            return factor({i[0], i[1]}, {i[2], i[3]}, length);
          });
      x = finished(contract(unary(kCopy, reshape(x, {rows, from * length})), 1,
                            reshape(factors, {from * length, parts * length}), 0));
      return reshape(x, {rows, parts, length});
    }
    if (columns == 1) return slice_along(by_convolution(x), 1, 0, parts);
    // Element j is (j / rest, j % rest), result k is (k % columns, k / columns).
    HloInstruction* const factors = numbers_next_to(x, {columns, 2, from, columns}, [&](Index i) {
      return factor({i[2], i[3]}, {i[1], i[0]}, columns);
    });
    x = product_of_each(reshape(factors, {2 * columns, from * columns}),
                        reshape(x, {rows, from * columns, rest}));
    HloInstruction* const turns = numbers_next_to(
        x, {columns, 2, rest}, [&](Index i) { return part_of_turn(i[1], i[0] * i[2], length); });
    x = times_complex(reshape(x, {rows, columns, 2, rest}), turns, 2);
    x = reshape(of(reshape(x, {rows * columns, 2, rest}), parts), {rows, columns, parts, rest});
    return reshape(transpose(x, {0, 2, 3, 1}), {rows, parts, length});
  }

 private:
  // The largest divisor up to the root, as far as it is short enough; 1 for a prime number.
  static std::int64_t divisor(std::int64_t length) {
    std::int64_t found = 1;
    for (std::int64_t i = 2; i <= kLongestProduct && i * i <= length; ++i) {
      if (length % i == 0) found = i;
    }
    return found;
  }

  // The real (0) or imaginary (1) part of k of n steps around the circle.
  double part_of_turn(std::int64_t part, std::int64_t k, std::int64_t n) const {
    if (part == 0) return cosine_of_turn(k, n);
    const double sine = cosine_of_turn(4 * (k % n) - n, 4 * n);
    return is_inverse_ ? sine : -sine;
  }

  double scale(std::int64_t length) const {
    return is_inverse_ ? 1 / static_cast<double>(length) : 1;
  }

  // Of a number's part in a result's part.
  struct Number {
    std::int64_t part, place;
  };
  double factor(const Number& x, const Number& result, std::int64_t length) const {
    const double factor = part_of_turn(x.part ^ result.part, x.place * result.place, length);
    return (x.part > result.part ? -factor : factor) * scale(length);
  }

  // [rows, n, rest] of [n, depth] and [rows, depth, rest].
  HloInstruction* product_of_each(HloInstruction* factors, HloInstruction* x) const {
    const std::int64_t rows = size_of(*x, 0);
    Dimensions sizes = dimensions_of(*factors);
    sizes.insert(sizes.begin(), rows);
    HloInstruction* const all = broadcast(factors, sizes, {1, 2});
    xla::DotDimensionNumbers numbers;
    numbers.add_lhs_batch_dimensions(0);
    numbers.add_rhs_batch_dimensions(0);
    numbers.add_lhs_contracting_dimensions(2);
    numbers.add_rhs_contracting_dimensions(1);
    sizes.back() = size_of(*x, 2);
    return finished(
        add_next_to(x, HloInstruction::CreateDot(shape_of(type_of(*x), sizes), all, unary(kCopy, x),
                                                 numbers, xla::PrecisionConfig())));
  }

  // Products are between copies, which XLA leaves out: for a row alone, a kernel could read x in
  // another order, and add in that order.
  HloInstruction* finished(HloInstruction* product) const {
    product->set_metadata(origin_.metadata());
    return unary(kCopy, product);
  }

  // Bluestein's way: j k = (j^2 + k^2 - (k - j)^2) / 2.
  HloInstruction* by_convolution(HloInstruction* x) const {
    const std::int64_t length = size_of(*x, 2);
    std::int64_t longer = 1;
    while (longer < 2 * length - 1) longer *= 2;
    const auto chirp = [&](std::int64_t part, std::int64_t j) {
      return part_of_turn(part, j * j % (2 * length), 2 * length);
    };
    const auto chirps = [&](double factor) {
      return numbers_next_to(x, {2, length}, [=](Index i) { return chirp(i[0], i[1]) * factor; });
    };
    HloInstruction* const filter = numbers_next_to(x, {1, 2, longer}, [&](Index i) {
      const std::int64_t j = std::min(i[2], longer - i[2]);
      return j >= length ? 0 : i[1] == 0 ? chirp(0, j) : -chirp(1, j);
    });
    const Transform there(origin_, false), back(origin_, true);
    x = there.of(pad_end(times_complex(pad_end(x, 1, 2), chirps(1), 1), 2, longer));
    x = back.of(times_complex(x, reshape(there.of(filter), {2, longer}), 1));
    return times_complex(slice_along(x, 2, 0, length), chirps(scale(length)), 1);
  }

  const HloInstruction& origin_;
  bool is_inverse_;
};

// Along one of the last dimensions of [rows, parts, ...].
HloInstruction* transform_along(const Transform& transform, HloInstruction* x,
                                std::int64_t dimension, std::int64_t parts) {
  const std::int64_t rank = x->shape().rank();
  const Dimensions order =
      joined({other_dimensions(rank, {1, dimension}), Dimensions{1, dimension}});
  x = transpose(x, order);
  Dimensions sizes = dimensions_of(*x);
  const std::int64_t length = sizes.back();
  x = transform.of(reshape(x, {elements_of(*x) / length / entry(sizes, rank - 2),
                               entry(sizes, rank - 2), length}),
                   parts);
  entry(sizes, rank - 2) = parts;
  return transpose(reshape(x, sizes), xla::InversePermutation(order));
}

// The other half of real numbers' transform is its conjugate.
HloInstruction* with_other_half(HloInstruction* x, std::int64_t length) {
  const std::int64_t last = x->shape().rank() - 1, half = size_of(*x, last);
  if (length == half) return x;
  HloInstruction* const other = reverse(slice_along(x, last, 1, length - half), {last});
  return concatenate(
      {x, concatenate({slice_along(other, 1, 0, 1), negate(slice_along(other, 1, 1, 1))}, 1)},
      last);
}

}  // namespace

Status multiply_out_transform(HloInstruction& fft, PassContext& /*context*/) {
  if (fft.opcode() != kFft || elements_of(fft) == 0) return {};
  const auto type = fft.fft_type();
  const auto lengths = fft.fft_length();
  const std::int64_t count = std::ssize(lengths), last = count + 1;
  HloInstruction* const from = fft.mutable_operand(0);
  const Index spatial = from->shape().dimensions().last(lengths.size());
  const auto as_part = [&](HloInstruction* x) {
    return reshape(x, joined({{elements_of(*x) / product(spatial), 1}, spatial}));
  };
  HloInstruction* x =
      type == xla::RFFT
          ? as_part(from)
          : concatenate({as_part(unary(kReal, from)), as_part(unary(kImag, from))}, 1);
  const Transform transform(fft, type == xla::IFFT || type == xla::IRFFT);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t dimension = type == xla::RFFT ? last - i : 2 + i;
    const bool is_real = type == xla::IRFFT && dimension == last;
    if (is_real) x = with_other_half(x, lengths.back());
    x = transform_along(transform, x, dimension, is_real ? 1 : 2);
    if (dimension == last) x = slice_along(x, last, 0, fft.shape().dimensions().back());
  }
  if (type == xla::IRFFT) return replace(fft, x);
  const auto part = [&](std::int64_t number) {
    return reshape(slice_along(x, 1, number, 1), fft.shape().dimensions());
  };
  return replace(
      fft, add_next_to(x, HloInstruction::CreateBinary(fft.shape(), kComplex, part(0), part(1))));
}

}  // namespace tfaot::toolkit::engine
