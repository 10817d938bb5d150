// SPDX-License-Identifier: Apache-2.0
// The products and convolutions that XLA's code calls by the names of Eigen's. They ask for memory,
// so tfaot compiles no code that calls them: that of cms-tfaot and of earlier versions does. Those
// of floats are our kernels'.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tfaot/kernels/abi.h"
#include "tfaot/kernels/levels.def"
#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/cpu_features.h"

#define TFAOT_DECLARE(x, name, suffix, ...)                      \
  void tfaot_matmul_f32_##suffix(void* result, const void** in); \
  void tfaot_matmul_f64_##suffix(void* result, const void** in);
#define TFAOT_NO_KERNELS(x, ...)
extern "C" {
TFAOT_LEVELS_HERE(TFAOT_DECLARE, TFAOT_NO_KERNELS, )
// A float16 is in the low bits of a float's register.
float __extendhfsf2(float half);
float __truncsfhf2(float value);
}

namespace {

using namespace tfaot::kernels;
using Int = std::int64_t;

template <class T>
struct Matrix {
  const T* first;
  Int row_step, column_step;
};
struct Size {
  Int rows, columns, depth;
};

struct Level {
  const char* name;
  const char* features;  // beyond those of the level before
};
#define TFAOT_ASKED(feature) feature " "
#define TFAOT_IMPLIED(feature) feature " "
#define TFAOT_UNLISTED(feature)
#define TFAOT_LEVEL(x, name, suffix, options, tuning, bytes, sums, rows, adds, usual, features) \
  {name, "" features},
constexpr Level kLevels[] = {TFAOT_LEVELS_HERE(TFAOT_LEVEL, TFAOT_NO_KERNELS, )};

// The number of the last of them that the CPU can run.
std::size_t best_level() {
  std::size_t found = 0;
  for (std::size_t i = 0; i < sizeof kLevels / sizeof kLevels[0]; ++i) {
    if (!tfaot::missing_features(kLevels[i].features, tfaot::this_cpu().features()).empty()) break;
    found = i;
    if (kLevels[i].name == tfaot::this_cpu().forced_level()) break;
  }
  return found;
}

using Kernel = void (*)(void* result, const void** in);
#define TFAOT_F32(x, name, suffix, ...) &tfaot_matmul_f32_##suffix,
#define TFAOT_F64(x, name, suffix, ...) &tfaot_matmul_f64_##suffix,

// c = a b. Rows of c are c_row apart.
template <class T>
void multiply_by(const Kernel* kernels, const Size& size, const Matrix<T>& a, const Matrix<T>& b,
                 T* c, Int c_row) {
  MatMulCall call = {};
  call.batch = call.inner_batch = 1;
  call.rows = size.rows;
  call.columns = size.columns;
  call.depth = size.depth;
  call.lhs_row_stride = a.row_step;
  call.lhs_depth_stride = a.column_step;
  call.rhs_depth_stride = b.row_step;
  call.rhs_column_stride = b.column_step;
  call.epilogue = kEpiloguePlaced;
  call.result_row_stride = c_row;
  std::vector<char> scratch(
      static_cast<std::size_t>(matmul_scratch_bytes(call, sizeof(T)) + kPanelBytes));
  const auto beyond = reinterpret_cast<std::uintptr_t>(scratch.data()) % kPanelBytes;
  void* out[] = {c, scratch.data() + (kPanelBytes - beyond)};
  const void* in[] = {&call, a.first, b.first};
  static const std::size_t best = best_level();
  kernels[best](out, in);
}
void multiply(const Size& size, const Matrix<float>& a, const Matrix<float>& b, float* c,
              Int c_row) {
  constexpr Kernel kKernels[] = {TFAOT_LEVELS_HERE(TFAOT_F32, TFAOT_NO_KERNELS, )};
  multiply_by(kKernels, size, a, b, c, c_row);
}
void multiply(const Size& size, const Matrix<double>& a, const Matrix<double>& b, double* c,
              Int c_row) {
  constexpr Kernel kKernels[] = {TFAOT_LEVELS_HERE(TFAOT_F64, TFAOT_NO_KERNELS, )};
  multiply_by(kKernels, size, a, b, c, c_row);
}

// Without the branches of std::complex for infinities, which Eigen has not either.
template <class T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
T product(T a, T b) {
  return static_cast<T>(a * b);
}

// Whole numbers wrap.
template <class T>
void multiply(const Size& size, const Matrix<T>& a, const Matrix<T>& b, T* c, Int c_row) {
  for (Int i = 0; i < size.rows; ++i, c += c_row) {
    std::fill_n(c, size.columns, T());
    for (Int k = 0; k < size.depth; ++k) {
      const T left = a.first[i * a.row_step + k * a.column_step];
      const T* const right = b.first + k * b.row_step;
      const auto add = [&](Int step) {
        for (Int j = 0; j < size.columns; ++j) {
          c[j] = static_cast<T>(c[j] + product(left, right[j * step]));
        }
      };
      if (b.column_step == 1) {
        add(1);
      } else {
        add(b.column_step);
      }
    }
  }
}

// c[n, m] = b^T[n, k] a^T[k, m]: XLA's matrices are column by column.
template <class T>
void multiply_columns(T* c, const T* a, const T* b, Int m, Int n, Int k, bool turn_a, bool turn_b) {
  const Matrix<T> left = {b, turn_b ? 1 : k, turn_b ? n : 1};
  const Matrix<T> right = {a, turn_a ? 1 : m, turn_a ? k : 1};
  multiply({n, m, k}, left, right, c, m);
}

std::vector<float> widened(const std::uint16_t* halves, Int count) {
  std::vector<float> wide(static_cast<std::size_t>(count));
  std::transform(halves, halves + count, wide.begin(), [](std::uint32_t half) {
    float as_float = 0;
    std::memcpy(&as_float, &half, sizeof half);
    return __extendhfsf2(as_float);
  });
  return wide;
}

// call(c, a, b) in float32.
template <class Call>
void widen(std::uint16_t* c, Int results, const std::vector<float>& a, const std::vector<float>& b,
           const Call& call) {
  std::vector<float> wide(static_cast<std::size_t>(results));
  call(wide.data(), a.data(), b.data());
  for (float number : wide) {
    number = __truncsfhf2(number);
    std::memcpy(c++, &number, sizeof *c);
  }
}

void multiply_columns(std::uint16_t* c, const std::uint16_t* a, const std::uint16_t* b, Int m,
                      Int n, Int k, bool turn_a, bool turn_b) {
  widen(c, m * n, widened(a, m * k), widened(b, k * n),
        [&](float* wide_c, const float* wide_a, const float* wide_b) {
          multiply_columns(wide_c, wide_a, wide_b, m, n, k, turn_a, turn_b);
        });
}

// Images [images, in..., channels] times a filter [size..., group_channels, filters].
struct Windows {
  Int images, channels, group_channels, filters, groups;
  Int in[3], size[3], out[3], stride[3], padding[3], base_dilation[3], dilation[3];
};

Int elements_of(const Int (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

// The pixel under a tap of a result's window, along a dimension; -1: beyond the image, or between
// its pixels.
Int pixel_of(const Windows& w, int d, Int result, Int tap) {
  const Int place = result * w.stride[d] - w.padding[d] + tap * w.dilation[d];
  const Int base = w.base_dilation[d];
  if (place < 0 || (base != 1 && place % base != 0)) return -1;
  const Int pixel = base != 1 ? place / base : place;
  return pixel < w.in[d] ? pixel : -1;
}

// Copies the pixels under a result's window. image: from the group's first channel on.
float* copy_window(const Windows& w, const float* image, Int result, float* to) {
  const Int row = result / w.out[2], at[] = {row / w.out[1], row % w.out[1], result % w.out[2]};
  for (Int i = 0; i < w.size[0]; ++i) {
    const Int plane = pixel_of(w, 0, at[0], i);
    for (Int j = 0; j < w.size[1]; ++j) {
      const Int line = pixel_of(w, 1, at[1], j);
      for (Int k = 0; k < w.size[2]; ++k, to += w.group_channels) {
        const Int pixel = pixel_of(w, 2, at[2], k);
        if (plane < 0 || line < 0 || pixel < 0) {
          std::fill_n(to, w.group_channels, 0.0F);
        } else {
          const Int place = (plane * w.in[1] + line) * w.in[2] + pixel;
          std::copy_n(image + place * w.channels, w.group_channels, to);
        }
      }
    }
  }
  return to;
}

void convolve(const Windows& w, const float* x, const float* filter, float* y) {
  constexpr Int kTogether = 48;  // results: the kernel reads a filter for as many rows in place
  const Int depth = elements_of(w.size) * w.group_channels, columns = w.filters / w.groups;
  const Int in_image = elements_of(w.in) * w.channels, in_all = elements_of(w.out);
  std::vector<float> patches(static_cast<std::size_t>(kTogether * depth));
  for (Int first = 0; first < w.images * in_all; first += kTogether, y += kTogether * w.filters) {
    const Int rows = std::min(kTogether, w.images * in_all - first);
    for (Int group = 0; group < w.groups; ++group) {
      float* to = patches.data();
      for (Int row = first; row < first + rows; ++row) {
        const float* const image = x + row / in_all * in_image + group * w.group_channels;
        to = copy_window(w, image, row % in_all, to);
      }
      multiply({rows, columns, depth}, {patches.data(), depth, 1},
               {filter + group * columns, w.filters, 1}, y + group * columns, w.filters);
    }
  }
}

void convolve(const Windows& w, const std::uint16_t* x, const std::uint16_t* filter,
              std::uint16_t* y) {
  widen(y, w.images * elements_of(w.out) * w.filters,
        widened(x, w.images * elements_of(w.in) * w.channels),
        widened(filter, elements_of(w.size) * w.group_channels * w.filters),
        [&](float* c, const float* a, const float* b) { convolve(w, a, b, c); });
}

}  // namespace

extern "C" {

#define TFAOT_MATMUL(name, T)                                                              \
  void __xla_cpu_runtime_EigenSingleThreadedMatMul##name(                                  \
      const void* /*options*/, T* c, T* a, T* b, Int m, Int n, Int k, std::int32_t turn_a, \
      std::int32_t turn_b) {                                                               \
    multiply_columns(c, a, b, m, n, k, turn_a != 0, turn_b != 0);                          \
  }
TFAOT_MATMUL(C128, std::complex<double>)
TFAOT_MATMUL(C64, std::complex<float>)
TFAOT_MATMUL(F16, std::uint16_t)
TFAOT_MATMUL(F32, float)
TFAOT_MATMUL(F64, double)
TFAOT_MATMUL(S32, std::uint32_t)
TFAOT_MATMUL(U8, std::uint8_t)

// The padding behind an image is what is left of the results' windows. Two dimensions are three, of
// which the first one is 1.
#define TFAOT_CONVOLUTIONS(name, T)                                                                \
  void __xla_cpu_runtime_EigenSingleThreadedConv3D##name(                                          \
      const void* /*options*/, T* y, T* x, T* filter, Int images, Int in_0, Int in_1, Int in_2,    \
      Int channels, Int size_0, Int size_1, Int size_2, Int group_channels, Int filters,           \
      Int out_0, Int out_1, Int out_2, Int stride_0, Int stride_1, Int stride_2, Int padding_0,    \
      Int /*below*/, Int padding_1, Int /*right*/, Int padding_2, Int /*behind*/, Int base_0,      \
      Int base_1, Int base_2, Int dilation_0, Int dilation_1, Int dilation_2, Int groups) {        \
    convolve({images,                                                                              \
              channels,                                                                            \
              group_channels,                                                                      \
              filters,                                                                             \
              groups,                                                                              \
              {in_0, in_1, in_2},                                                                  \
              {size_0, size_1, size_2},                                                            \
              {out_0, out_1, out_2},                                                               \
              {stride_0, stride_1, stride_2},                                                      \
              {padding_0, padding_1, padding_2},                                                   \
              {base_0, base_1, base_2},                                                            \
              {dilation_0, dilation_1, dilation_2}},                                               \
             x, filter, y);                                                                        \
  }                                                                                                \
  void __xla_cpu_runtime_EigenSingleThreadedConv2D##name(                                          \
      const void* options, T* y, T* x, T* filter, Int images, Int in_0, Int in_1, Int channels,    \
      Int size_0, Int size_1, Int group_channels, Int filters, Int out_0, Int out_1, Int stride_0, \
      Int stride_1, Int padding_0, Int below, Int padding_1, Int right, Int base_0, Int base_1,    \
      Int dilation_0, Int dilation_1, Int groups) {                                                \
    __xla_cpu_runtime_EigenSingleThreadedConv3D##name(                                             \
        options, y, x, filter, images, 1, in_0, in_1, channels, 1, size_0, size_1, group_channels, \
        filters, 1, out_0, out_1, 1, stride_0, stride_1, 0, 0, padding_0, below, padding_1, right, \
        1, base_0, base_1, 1, dilation_0, dilation_1, groups);                                     \
  }
TFAOT_CONVOLUTIONS(F16, std::uint16_t)
TFAOT_CONVOLUTIONS(F32, float)

}  // extern "C"
