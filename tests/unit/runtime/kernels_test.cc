// SPDX-License-Identifier: Apache-2.0
// One product, convolution, FFT, sort and top-k through the symbols that compiled objects call,
// compared with plain loops. kernel_symbols.cc, made from the lists of
// cmake/build/TfaotKernelTable.cmake, links every symbol into a shared library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/cpu_features.h"

extern "C" {
struct Kernel {
  const char* name;
  void (*address)();
};
extern const Kernel tfaot_kernels[];
extern const std::size_t tfaot_kernel_count;

void __xla_cpu_runtime_EigenSingleThreadedMatMulF32(const void*, float*, float*, float*,
                                                    std::int64_t, std::int64_t, std::int64_t,
                                                    std::int32_t, std::int32_t);
void __xla_cpu_runtime_EigenSingleThreadedConv2DF32(
    const void*, float*, float*, float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
void __xla_cpu_runtime_EigenSingleThreadedMatMulF16(const void*, std::uint16_t*, std::uint16_t*,
                                                    std::uint16_t*, std::int64_t, std::int64_t,
                                                    std::int64_t, std::int32_t, std::int32_t);
void __xla_cpu_runtime_EigenSingleThreadedConv2DF16(
    const void*, std::uint16_t*, std::uint16_t*, std::uint16_t*, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t);
void __xla_cpu_runtime_EigenSingleThreadedConv3DF16(
    const void*, std::uint16_t*, std::uint16_t*, std::uint16_t*, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
    std::int64_t, std::int64_t, std::int64_t);
void __xla_cpu_runtime_EigenSingleThreadedMatMulS32(const void*, std::int32_t*, std::int32_t*,
                                                    std::int32_t*, std::int64_t, std::int64_t,
                                                    std::int64_t, std::int32_t, std::int32_t);
void __xla_cpu_runtime_EigenSingleThreadedMatMulU8(const void*, std::uint8_t*, std::uint8_t*,
                                                   std::uint8_t*, std::int64_t, std::int64_t,
                                                   std::int64_t, std::int32_t, std::int32_t);
void __xla_cpu_runtime_EigenSingleThreadedMatMulC64(const void*, std::complex<float>*,
                                                    std::complex<float>*, std::complex<float>*,
                                                    std::int64_t, std::int64_t, std::int64_t,
                                                    std::int32_t, std::int32_t);
void __xla_cpu_runtime_DuccSingleThreadedFft(const void*, void*, void*, std::int32_t, std::int32_t,
                                             std::int32_t, const std::int64_t*,
                                             const std::int64_t*);
void __xla_cpu_runtime_TopKF32(std::int64_t, std::int64_t, std::int64_t, const float*, float*,
                               std::int32_t*);
void __xla_cpu_runtime_KeyValueSort(std::int64_t, std::int64_t, std::int64_t, char**, std::int32_t,
                                    std::int32_t*, bool, char*, std::int64_t*,
                                    void (*)(char*, char*, char**, char**, std::int64_t*));

// A 16-bit float is in the low bits of a float's register.
float __extendhfsf2(float half);
double __extendhfdf2(float half);
float __truncsfhf2(float value);
float __truncsfbf2(float value);
float __truncdfbf2(double value);
}

namespace {

float value(std::size_t i) { return static_cast<float>(std::sin(0.7 * static_cast<double>(i))); }

std::vector<float> values(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = value(i);
  return all;
}

std::uint16_t low_bits(float value) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
template <class Bits>
float float_of(Bits bits) {
  const std::uint32_t wide = bits;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// By its definition, not by bits: sign, exponent of 5 bits, fraction of 10.
float float16_value(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31U);
  const double fraction = bits & 1023U;
  const double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>((bits & 0x8000U) != 0 ? -value : value);
}

TEST(HalfFloats, ConvertEveryFloat16AndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = __extendhfsf2(float_of(bits));
    const bool is_finite = (bits & 0x7c00U) != 0x7c00U;
    ASSERT_TRUE(!is_finite || value == float16_value(bits)) << bits;
    ASSERT_EQ(std::isnan(value), !is_finite && (bits & 1023U) != 0) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000U) != 0) << bits;
    if (std::isnan(value)) continue;
    ASSERT_EQ(low_bits(__truncsfhf2(value)), bits);
    ASSERT_EQ(__extendhfdf2(float_of(bits)), static_cast<double>(value));
  }
}

TEST(HalfFloats, RoundToTheNearestAndToEven) {
  // Between neighbours a and b of both kinds: below, at and above the middle.
  for (std::uint32_t bits = 0; bits < 0x7bffU; ++bits) {
    const float a = float16_value(bits), b = float16_value(bits + 1);
    const float middle = (a + b) / 2;
    ASSERT_EQ(low_bits(__truncsfhf2(std::nextafter(middle, a))), bits);
    ASSERT_EQ(low_bits(__truncsfhf2(middle)), bits + (bits & 1U));
    ASSERT_EQ(low_bits(__truncsfhf2(std::nextafter(middle, b))), bits + 1);
    ASSERT_EQ(low_bits(__truncsfhf2(-std::nextafter(middle, b))), bits + 1 + 0x8000U);
  }
  for (std::uint32_t bits = 0; bits < 0x7f7fU; ++bits) {
    const std::uint32_t middle = (bits << 16) + 0x8000U;
    ASSERT_EQ(low_bits(__truncsfbf2(float_of(bits << 16))), bits);
    ASSERT_EQ(low_bits(__truncsfbf2(float_of(middle - 1))), bits);
    ASSERT_EQ(low_bits(__truncsfbf2(float_of(middle))), bits + (bits & 1U));
    ASSERT_EQ(low_bits(__truncsfbf2(float_of(middle + 1))), bits + 1);
    ASSERT_EQ(low_bits(__truncdfbf2(static_cast<double>(float_of(middle + 1)))), bits + 1);
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(low_bits(__truncsfhf2(65519.996F)), 0x7bffU);
  for (const float large : {65520.0F, 1e6F, kInfinity}) {
    EXPECT_EQ(low_bits(__truncsfhf2(large)), 0x7c00U);
    EXPECT_EQ(low_bits(__truncsfhf2(-large)), 0xfc00U);
  }
  EXPECT_EQ(low_bits(__truncsfbf2(std::numeric_limits<float>::max())), 0x7f80U);
  EXPECT_EQ(low_bits(__truncsfbf2(-kInfinity)), 0xff80U);
  EXPECT_TRUE(std::isnan(__extendhfsf2(__truncsfhf2(kNan))));
  EXPECT_TRUE(std::isnan(float_of(static_cast<std::uint32_t>(low_bits(__truncsfbf2(kNan))) << 16)));
}

TEST(Kernels, AllLinkIntoASharedLibrary) {
  ASSERT_GT(tfaot_kernel_count, 10U);
  for (std::size_t i = 0; i < tfaot_kernel_count; ++i) {
    EXPECT_NE(tfaot_kernels[i].address, nullptr) << tfaot_kernels[i].name;
  }
}

TEST(Kernels, MultiplyMatrices) {
  const std::size_t m = 65, n = 33, k = 40;  // column-major
  std::vector<float> a = values(m * k), b = values(k * n), c(m * n);
  __xla_cpu_runtime_EigenSingleThreadedMatMulF32(nullptr, c.data(), a.data(), b.data(), m, n, k, 0,
                                                 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum += double{a[i + m * l]} * double{b[l + k * j]};
      ASSERT_NEAR(c[i + m * j], sum, 1e-4);
    }
  }
}

// Two sums for the even and the odd steps, as in all products of more than eight columns, and no
// blocks that would depend on the caches of the machine.
TEST(Kernels, MultiplyMatricesInOneOrder) {
  const std::size_t m = 16, n = 8, k = 5000;
  const bool is_fused = tfaot::missing_features("fma", tfaot::this_cpu().features()).empty() &&
                        tfaot::this_cpu().forced_level() != "x86-64";
  std::vector<float> a = values(m * k), b = values(k * n), c(m * n);
  __xla_cpu_runtime_EigenSingleThreadedMatMulF32(nullptr, c.data(), a.data(), b.data(), m, n, k, 0,
                                                 0);
  for (std::size_t i = 0; i < m * n; ++i) {
    float sums[2] = {};
    for (std::size_t l = 0; l < k; ++l) {
      const float left = a[i % m + m * l], right = b[l + k * (i / m)], product = left * right;
      float& sum = sums[l % 2];
      sum = is_fused ? std::fma(left, right, sum) : sum + product;
    }
    ASSERT_EQ(sums[0] + sums[1], c[i]) << i;
  }
}

// Sums that halves cannot count to: 2048 + 1 is 2048 there.
TEST(Kernels, AddTheProductsOfHalvesInFloat32) {
  constexpr std::uint16_t kOne = 0x3c00, k4096 = 0x6c00;
  const std::int64_t length = 4096;
  std::vector<std::uint16_t> ones(static_cast<std::size_t>(2 * length), kOne);
  for (const std::int32_t transposed : {0, 1}) {
    std::uint16_t product[4] = {};
    __xla_cpu_runtime_EigenSingleThreadedMatMulF16(nullptr, product, ones.data(), ones.data(), 2, 2,
                                                   length, transposed, 1 - transposed);
    for (const std::uint16_t sum : product) EXPECT_EQ(sum, k4096);
  }
  std::uint16_t pixels[2] = {};  // 1 image of 2 x 2048 x 1 pixels, 2 filters
  __xla_cpu_runtime_EigenSingleThreadedConv2DF16(nullptr, pixels, ones.data(), ones.data(), 1, 2,
                                                 length / 2, 1, 2, length / 2, 1, 2, 1, 1, 1, 1, 0,
                                                 0, 0, 0, 1, 1, 1, 1, 1);
  for (const std::uint16_t sum : pixels) EXPECT_EQ(sum, k4096);
  std::uint16_t voxels[2] = {};  // 1 of 2 x 4 x 512 x 1
  __xla_cpu_runtime_EigenSingleThreadedConv3DF16(nullptr, voxels, ones.data(), ones.data(), 1, 2, 4,
                                                 length / 8, 1, 2, 4, length / 8, 1, 2, 1, 1, 1, 1,
                                                 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1);
  for (const std::uint16_t sum : voxels) EXPECT_EQ(sum, k4096);
}

// The same numbers by either type, but for the last digit.
TEST(Kernels, MultiplyMatricesOfHalves) {
  const std::size_t m = 7, n = 5, k = 9;
  std::vector<std::uint16_t> a(m * k), b(k * n), c(m * n);
  std::vector<float> wide_a(a.size()), wide_b(b.size()), wide_c(c.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = low_bits(__truncsfhf2(value(i)));
    wide_a[i] = float16_value(a[i]);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = low_bits(__truncsfhf2(value(i + 3)));
    wide_b[i] = float16_value(b[i]);
  }
  __xla_cpu_runtime_EigenSingleThreadedMatMulF16(nullptr, c.data(), a.data(), b.data(), m, n, k, 0,
                                                 0);
  __xla_cpu_runtime_EigenSingleThreadedMatMulF32(nullptr, wide_c.data(), wide_a.data(),
                                                 wide_b.data(), m, n, k, 0, 0);
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i], low_bits(__truncsfhf2(wide_c[i])));
}

// Whole numbers wrap; a transposed side is read as it lies.
TEST(Kernels, MultiplyMatricesOfOtherTypes) {
  constexpr std::int64_t m = 3, n = 2, k = 4;
  const std::int32_t large = 1 << 30;
  std::int32_t a[m * k], b[k * n], c[m * n];
  std::uint8_t small_a[m * k], small_b[k * n], small_c[m * n];
  std::complex<float> complex_a[m * k], complex_b[k * n], complex_c[m * n];
  for (std::int32_t i = 0; i < m * k; ++i) {
    a[i] = large + i;
    small_a[i] = static_cast<std::uint8_t>(200 + i);
    complex_a[i] = {static_cast<float>(i), 1};
  }
  for (std::int32_t i = 0; i < k * n; ++i) {
    b[i] = 3 * i - 4;
    small_b[i] = static_cast<std::uint8_t>(7 * i);
    complex_b[i] = {2, static_cast<float>(-i)};
  }
  for (const std::int32_t turned : {0, 1}) {
    __xla_cpu_runtime_EigenSingleThreadedMatMulS32(nullptr, c, a, b, m, n, k, turned, 1 - turned);
    __xla_cpu_runtime_EigenSingleThreadedMatMulU8(nullptr, small_c, small_a, small_b, m, n, k,
                                                  turned, 1 - turned);
    __xla_cpu_runtime_EigenSingleThreadedMatMulC64(nullptr, complex_c, complex_a, complex_b, m, n,
                                                   k, turned, 1 - turned);
    for (std::int64_t i = 0; i < m * n; ++i) {
      std::int64_t sum = 0, small_sum = 0;
      std::complex<float> complex_sum;
      for (std::int64_t l = 0; l < k; ++l) {
        const std::int64_t left = turned != 0 ? l + k * (i % m) : i % m + m * l;
        const std::int64_t right = turned != 0 ? l + k * (i / m) : i / m + n * l;
        sum += std::int64_t{a[left]} * b[right];
        small_sum += small_a[left] * small_b[right];
        complex_sum += complex_a[left] * complex_b[right];
      }
      EXPECT_EQ(c[i], static_cast<std::int32_t>(sum));
      EXPECT_EQ(small_c[i], static_cast<std::uint8_t>(small_sum));
      EXPECT_EQ(complex_c[i], complex_sum);
    }
  }
}

// Two groups, a stride, pixels apart in the input and in the window: 1 x 5 x 1.
TEST(Kernels, ConvolveGroupsOfDilatedImages) {
  std::vector<float> x = values(5 * 4), w = values(3 * 2 * 6), y(4 * 6);
  __xla_cpu_runtime_EigenSingleThreadedConv2DF32(nullptr, y.data(), x.data(), w.data(), 1, 5, 1, 4,
                                                 3, 1, 2, 6, 4, 1, 3, 1, 2, 3, 0, 0, 2, 1, 2, 1, 2);
  for (std::int64_t i = 0; i < 4 * 6; ++i) {
    const std::int64_t filter = i % 6, group = filter / 3;
    double sum = 0;
    for (std::int64_t t = 0; t < 3 * 2; ++t) {
      const std::int64_t place = i / 6 * 3 - 2 + t / 2 * 2;
      if (place < 0 || place % 2 != 0 || place / 2 >= 5) continue;
      sum += double{x[static_cast<std::size_t>(place / 2 * 4 + group * 2 + t % 2)]} *
             double{w[static_cast<std::size_t>(t * 6 + filter)]};
    }
    EXPECT_NEAR(y[static_cast<std::size_t>(i)], sum, 1e-5) << i;
  }
}

// NHWC, 3x3, one pixel of padding, stride 1.
TEST(Kernels, Convolve) {
  const std::int64_t images = 2, size = 7, in = 3, out = 5;
  std::vector<float> x = values(static_cast<std::size_t>(images * size * size * in));
  std::vector<float> w = values(static_cast<std::size_t>(9 * in * out));
  std::vector<float> y(static_cast<std::size_t>(images * size * size * out));
  __xla_cpu_runtime_EigenSingleThreadedConv2DF32(nullptr, y.data(), x.data(), w.data(), images,
                                                 size, size, in, 3, 3, in, out, size, size, 1, 1, 1,
                                                 1, 1, 1, 1, 1, 1, 1, 1);
  const auto inside = [&](std::int64_t i) { return i >= 0 && i < size; };
  for (std::int64_t p = 0; p < images * size * size; ++p) {
    const std::int64_t image = p / (size * size), row = p / size % size, column = p % size;
    for (std::int64_t o = 0; o < out; ++o) {
      double sum = 0;
      for (std::int64_t t = 0; t < 9 * in; ++t) {
        const std::int64_t r = row + t / in / 3 - 1, c = column + t / in % 3 - 1;
        if (!inside(r) || !inside(c)) continue;
        sum += double{x[static_cast<std::size_t>(((image * size + r) * size + c) * in + t % in)]} *
               double{w[static_cast<std::size_t>(t * out + o)]};
      }
      ASSERT_NEAR(y[static_cast<std::size_t>(p * out + o)], sum, 1e-4);
    }
  }
}

TEST(Kernels, TransformRealRowsThereAndBack) {
  const std::int64_t rows = 3, length = 12, half = length / 2 + 1;
  std::vector<float> x = values(static_cast<std::size_t>(rows * length)), back(x.size());
  std::vector<std::complex<float>> spectrum(static_cast<std::size_t>(rows * half));
  const std::int64_t shape[] = {rows, length}, spectrum_shape[] = {rows, half},
                     fft_length[] = {length};
  __xla_cpu_runtime_DuccSingleThreadedFft(nullptr, spectrum.data(), x.data(), 2, 0, 1, shape,
                                          fft_length);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t f = 0; f < half; ++f) {
      std::complex<double> sum = 0;
      for (std::int64_t t = 0; t < length; ++t) {
        sum +=
            double{x[static_cast<std::size_t>(row * length + t)]} *
            std::polar(1.0, -2 * M_PI * static_cast<double>(f * t) / static_cast<double>(length));
      }
      const std::complex<float> got = spectrum[static_cast<std::size_t>(row * half + f)];
      ASSERT_NEAR(got.real(), sum.real(), 1e-4);
      ASSERT_NEAR(got.imag(), sum.imag(), 1e-4);
    }
  }
  __xla_cpu_runtime_DuccSingleThreadedFft(nullptr, back.data(), spectrum.data(), 3, 0, 1,
                                          spectrum_shape, fft_length);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(back[i], x[i], 1e-5);
}

// Lengths with several, with equal and with large prime factors, and of one; numbers beyond the
// input are zero, those beyond the length are not read.
TEST(Kernels, TransformAnyLength) {
  const std::int64_t in = 9;
  for (const std::int64_t length : {1, 2, 7, 9, 16, 30, 97}) {
    std::vector<std::complex<float>> x(in), y(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = {value(i), value(i + 5)};
    const std::int64_t shape[] = {1, in}, fft_length[] = {length};
    __xla_cpu_runtime_DuccSingleThreadedFft(nullptr, y.data(), x.data(), 0, 0, 1, shape,
                                            fft_length);
    for (std::int64_t f = 0; f < length; ++f) {
      std::complex<double> sum = 0;
      for (std::int64_t t = 0; t < std::min(in, length); ++t) {
        const auto turn = -2 * M_PI * static_cast<double>(f * t) / static_cast<double>(length);
        sum += std::complex<double>(x[static_cast<std::size_t>(t)]) * std::polar(1.0, turn);
      }
      const std::complex<double> got = y[static_cast<std::size_t>(f)];
      ASSERT_NEAR(std::abs(got - sum), 0, 1e-5) << length << ' ' << f;
    }
  }
}

TEST(Kernels, TransformRealVolumesThereAndBack) {
  const std::int64_t shape[] = {2, 3, 4, 6}, spectrum_shape[] = {2, 3, 4, 4},
                     fft_length[] = {3, 4, 6};
  std::vector<double> x(2 * 3 * 4 * 6), back(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = value(i);
  std::vector<std::complex<double>> spectrum(2 * 3 * 4 * 4);
  __xla_cpu_runtime_DuccSingleThreadedFft(nullptr, spectrum.data(), x.data(), 2, 1, 3, shape,
                                          fft_length);
  __xla_cpu_runtime_DuccSingleThreadedFft(nullptr, back.data(), spectrum.data(), 3, 1, 3,
                                          spectrum_shape, fft_length);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(back[i], x[i], 1e-12);
}

TEST(Kernels, TransformPlanesInDoublePrecision) {
  const std::int64_t n = 6, shape[] = {2, n, n}, fft_length[] = {n, n};
  std::vector<std::complex<double>> x(2 * n * n), y(x.size()), back(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = {double{value(i)}, double{value(i + 9)}};
  __xla_cpu_runtime_DuccSingleThreadedFft(nullptr, y.data(), x.data(), 0, 1, 2, shape, fft_length);
  std::complex<double> sum = 0;  // of the second plane: its zero frequency
  for (std::size_t i = n * n; i < x.size(); ++i) sum += x[i];
  EXPECT_NEAR(std::abs(y[n * n] - sum), 0, 1e-12);
  __xla_cpu_runtime_DuccSingleThreadedFft(nullptr, back.data(), y.data(), 1, 1, 2, shape,
                                          fft_length);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(std::abs(back[i] - x[i]), 0, 1e-12);
}

TEST(Kernels, FindTheLargest) {
  const float x[] = {1, 5, 3, 4, -2, -1, -9, -5};
  float best[4];
  std::int32_t where[4];
  __xla_cpu_runtime_TopKF32(2, 4, 2, x, best, where);
  EXPECT_EQ(std::vector<float>(best, best + 4), (std::vector<float>{5, 4, -1, -2}));
  EXPECT_EQ(std::vector<std::int32_t>(where, where + 4), (std::vector<std::int32_t>{1, 3, 1, 0}));
}

void less_than(char* result, char*, char** parameters, char**, std::int64_t*) {
  const void* const a = parameters[0];
  const void* const b = parameters[1];
  *result = *static_cast<const float*>(a) < *static_cast<const float*>(b);
}

TEST(Kernels, Sort) {
  std::vector<float> x = values(50);
  std::vector<float> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  void* const data = x.data();
  char* arrays[] = {static_cast<char*>(data)};
  std::int32_t sizes[] = {4};
  __xla_cpu_runtime_KeyValueSort(1, 50, 1, arrays, 1, sizes, true, nullptr, nullptr, &less_than);
  EXPECT_EQ(x, sorted);
}

}  // namespace
