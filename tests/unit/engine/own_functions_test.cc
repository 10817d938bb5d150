// SPDX-License-Identifier: Apache-2.0
// XLA's evaluator gets our functions in place of the C library's, and they are as exact as those.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>

namespace {

// What its code calls, as 'nm -D' of TensorFlow's library lists it.
TEST(OwnFunctions, AreFoundBeforeTheLibrarys) {
  Dl_info own{};
  static const int here = 0;
  ASSERT_NE(dladdr(&here, &own), 0);
  for (const std::string name :
       {"atan2", "cabs",  "cbrt",  "ccos",   "cexp", "clog", "cos",   "cosh",  "cpow",
        "csin",  "csqrt", "ctanh", "erf",    "exp",  "exp2", "expm1", "hypot", "log",
        "log1p", "pow",   "sin",   "sincos", "sinh", "tan",  "tanh"}) {
    for (const char* const type : {"", "f"}) {
      Dl_info found{};
      ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, (name + type).c_str()), &found), 0) << name << type;
      EXPECT_EQ(found.dli_fbase, own.dli_fbase) << name << type;
    }
  }
}

constexpr double kNumbers[] = {-700, -40,  -20.5, -3,   -1.5, -0.9, -0.3, -1e-5, -1e-17, 0,
                               1e-9, 1e-3, 0.25,  0.75, 1,    2.5,  8,    19.9,  27,     710};

template <typename Real, typename Exact>
void expect_near(Real real, Exact exact) {
  for (const double x : kNumbers) {
    const long double wanted = exact(x);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(real(x))) << x;
    } else if (std::isinf(wanted) || std::abs(wanted) > std::numeric_limits<double>::max()) {
      EXPECT_EQ(real(x), static_cast<double>(wanted)) << x;
    } else {
      EXPECT_NEAR(real(x), static_cast<double>(wanted),
                  1e-15 * std::abs(static_cast<double>(wanted)))
          << x;
    }
  }
}

using Long = long double;

#define TFAOT_NEAR(name) \
  expect_near([](double x) { return std::name(x); }, [](Long x) { return std::name(x); })

TEST(OwnFunctions, AreAsExactAsTheLibrarys) {
  TFAOT_NEAR(cbrt);
  TFAOT_NEAR(cosh);
  TFAOT_NEAR(expm1);
  TFAOT_NEAR(log1p);
  TFAOT_NEAR(sinh);
  TFAOT_NEAR(tan);
  expect_near([](double x) { return std::hypot(x, 1.0); },
              [](Long x) { return std::hypot(x, Long{1}); });
  EXPECT_EQ(std::cbrt(27.0), 3);
  EXPECT_EQ(std::hypot(3.0, 4.0), 5);
  EXPECT_EQ(std::expm1(0.5F), static_cast<float>(std::expm1(Long{0.5})));
}

#define TFAOT_NEAR_COMPLEX(name)                                                              \
  for (const double x : kNumbers) {                                                           \
    for (const double y : {-3.0, -0.25, 0.0, 1.0}) {                                          \
      if (std::abs(x) > 40 || (x == 0 && y == 0)) continue;                                   \
      const std::complex<Long> exact = std::name(std::complex<Long>(x, y));                   \
      const std::complex<double> is = std::name(std::complex<double>(x, y));                  \
      const auto limit = static_cast<double>(std::abs(exact)) * 2e-15;                        \
      EXPECT_NEAR(is.real(), static_cast<double>(exact.real()), limit) << #name << x << y;    \
      EXPECT_NEAR(is.imag(), static_cast<double>(exact.imag()), limit) << #name << x << y;    \
      const std::complex<float> small =                                                       \
          std::name(std::complex<float>(static_cast<float>(x), static_cast<float>(y)));       \
      EXPECT_NEAR(small.imag(), is.imag(), static_cast<float>(std::abs(is)) * 1e-5) << #name; \
    }                                                                                         \
  }

TEST(OwnFunctions, OfComplexNumbersAreAsExactToo) {
  TFAOT_NEAR_COMPLEX(cos);
  TFAOT_NEAR_COMPLEX(exp);
  TFAOT_NEAR_COMPLEX(log);
  TFAOT_NEAR_COMPLEX(sin);
  TFAOT_NEAR_COMPLEX(sqrt);
  TFAOT_NEAR_COMPLEX(tanh);
  const std::complex<double> z(0.5, -1.25), power(1.5, 0.75);
  const std::complex<Long> exact = std::pow(std::complex<Long>(z), std::complex<Long>(power));
  EXPECT_NEAR(std::abs(std::pow(z, power) - std::complex<double>(exact)), 0, 2e-15);
  EXPECT_EQ(std::pow(std::complex<double>(), power), std::complex<double>());
  EXPECT_EQ(std::abs(std::complex<double>(-3, 4)), 5);
}

}  // namespace
