// SPDX-License-Identifier: Apache-2.0
// XLA's evaluator computes functions of weights ahead, by the C library's functions. Their last
// bits depend on the library and the CPU, so weights would depend on the machine that compiles. The
// loader looks into the executable first, so XLA's library calls these.
#include <cmath>

#include "tfaot/kernels/functions.h"

namespace {

// A complex number of C, which is passed as two numbers.
template <typename T>
struct Complex {
  T real, imaginary;
};

double our_expm1(double x) {
  const double power = tfaot_exp_f64(x), less = power - 1;
  if (power == 1) return x;
  return less == -1 || std::isinf(power) ? less : less * x / tfaot_log_f64(power);
}
double our_log1p(double x) {
  const double sum = 1 + x;
  if (sum == 1) return x;
  return std::isinf(sum) ? sum : tfaot_log_f64(sum) * x / (sum - 1);
}
double our_sinh(double x) {
  const double half = tfaot_exp_f64(std::abs(x) / 2), less = our_expm1(std::abs(x));
  return std::copysign(less > 1e9 ? half / 2 * half : (less + less / (less + 1)) / 2, x);
}
double our_cosh(double x) {
  const double half = tfaot_exp_f64(std::abs(x) / 2);
  return half / 2 * half + 0.5 / half / half;
}
double our_tan(double x) { return tfaot_sin_f64(x) / tfaot_cos_f64(x); }
// Newton's step makes the last bits right.
double our_cbrt(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double size = std::abs(x), root = tfaot_pow_f64(size, 1.0 / 3);
  return std::copysign(root - (root * root * root - size) / (3 * root * root), x);
}
double our_hypot(double x, double y) {
  const double more = std::fmax(std::abs(x), std::abs(y));
  const double less = std::fmin(std::abs(x), std::abs(y));
  if (more == 0 || std::isinf(more)) return more;
  return more * std::sqrt(1 + less / more * (less / more)) + 0 * (x + y);
}

using Number = Complex<double>;

double our_cabs(Number z) { return our_hypot(z.real, z.imaginary); }
Number our_cexp(Number z) {
  const double size = tfaot_exp_f64(z.real);
  if (z.imaginary == 0) return {size, z.imaginary};
  return {size * tfaot_cos_f64(z.imaginary), size * tfaot_sin_f64(z.imaginary)};
}
Number our_clog(Number z) {
  return {tfaot_log_f64(our_cabs(z)), tfaot_atan2_f64(z.imaginary, z.real)};
}
Number our_cpow(Number z, Number power) {
  if (z.real == 0 && z.imaginary == 0 && power.real > 0) return {0, 0};
  const Number log = our_clog(z);
  return our_cexp({power.real * log.real - power.imaginary * log.imaginary,
                   power.real * log.imaginary + power.imaginary * log.real});
}
Number our_csqrt(Number z) {
  if (z.real == 0 && z.imaginary == 0) return {0, z.imaginary};
  const double root = std::sqrt((std::abs(z.real) + our_cabs(z)) / 2);
  if (z.real >= 0) return {root, z.imaginary / (2 * root)};
  return {std::abs(z.imaginary) / (2 * root), std::copysign(root, z.imaginary)};
}
Number our_csin(Number z) {
  return {tfaot_sin_f64(z.real) * our_cosh(z.imaginary),
          tfaot_cos_f64(z.real) * our_sinh(z.imaginary)};
}
Number our_ccos(Number z) {
  return {tfaot_cos_f64(z.real) * our_cosh(z.imaginary),
          -tfaot_sin_f64(z.real) * our_sinh(z.imaginary)};
}
// Kahan's formula.
Number our_ctanh(Number z) {
  const double sine = tfaot_sin_f64(z.imaginary), cosine = tfaot_cos_f64(z.imaginary);
  if (std::abs(z.real) > 20) {
    const double less = tfaot_exp_f64(-std::abs(z.real));
    return {std::copysign(1.0, z.real), 4 * sine * cosine * less * less};
  }
  const double sinh = our_sinh(z.real), size = cosine * cosine + sinh * sinh;
  return {sinh * our_cosh(z.real) / size, sine * cosine / size};
}

Complex<float> as_float(Number z) {
  return {static_cast<float>(z.real), static_cast<float>(z.imaginary)};
}

}  // namespace

#define TFAOT_OF_ONE(name)                                         \
  double name(double x) noexcept { return tfaot_##name##_f64(x); } \
  float name##f(float x) noexcept { return tfaot_##name##_f32(x); }
#define TFAOT_OF_TWO(name)                                                      \
  double name(double x, double y) noexcept { return tfaot_##name##_f64(x, y); } \
  float name##f(float x, float y) noexcept { return tfaot_##name##_f32(x, y); }
#define TFAOT_REAL(name)                                   \
  double name(double x) noexcept { return our_##name(x); } \
  float name##f(float x) noexcept { return static_cast<float>(our_##name(x)); }
#define TFAOT_COMPLEX(name)                                              \
  Number complex_##name(Number z) __asm__(#name);                        \
  Number complex_##name(Number z) { return our_##name(z); }              \
  Complex<float> complex_##name##f(Complex<float> z) __asm__(#name "f"); \
  Complex<float> complex_##name##f(Complex<float> z) {                   \
    return as_float(our_##name({z.real, z.imaginary}));                  \
  }

extern "C" {
TFAOT_OF_TWO(atan2)
TFAOT_OF_ONE(cos)
TFAOT_OF_ONE(erf)
TFAOT_OF_ONE(exp)
TFAOT_OF_ONE(exp2)
TFAOT_OF_ONE(log)
TFAOT_OF_TWO(pow)
TFAOT_OF_ONE(sin)
TFAOT_OF_ONE(tanh)
void sincos(double x, double* sine, double* cosine) noexcept { tfaot_sincos_f64(x, sine, cosine); }
void sincosf(float x, float* sine, float* cosine) noexcept { tfaot_sincos_f32(x, sine, cosine); }
TFAOT_REAL(cbrt)
TFAOT_REAL(cosh)
TFAOT_REAL(expm1)
TFAOT_REAL(log1p)
TFAOT_REAL(sinh)
TFAOT_REAL(tan)
double hypot(double x, double y) noexcept { return our_hypot(x, y); }
float hypotf(float x, float y) noexcept { return static_cast<float>(our_hypot(x, y)); }
double complex_cabs(Number z) __asm__("cabs");
double complex_cabs(Number z) { return our_cabs(z); }
float complex_cabsf(Complex<float> z) __asm__("cabsf");
float complex_cabsf(Complex<float> z) { return hypotf(z.real, z.imaginary); }
Number complex_cpow(Number z, Number power) __asm__("cpow");
Number complex_cpow(Number z, Number power) { return our_cpow(z, power); }
Complex<float> complex_cpowf(Complex<float> z, Complex<float> power) __asm__("cpowf");
Complex<float> complex_cpowf(Complex<float> z, Complex<float> power) {
  return as_float(our_cpow({z.real, z.imaginary}, {power.real, power.imaginary}));
}
TFAOT_COMPLEX(ccos)
TFAOT_COMPLEX(cexp)
TFAOT_COMPLEX(clog)
TFAOT_COMPLEX(csin)
TFAOT_COMPLEX(csqrt)
TFAOT_COMPLEX(ctanh)
}

#undef TFAOT_COMPLEX
#undef TFAOT_REAL
#undef TFAOT_OF_ONE
#undef TFAOT_OF_TWO
