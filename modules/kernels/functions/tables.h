// SPDX-License-Identifier: Apache-2.0
// Tables of powers and logarithms. The compiler computes them in whole numbers of 128 bits.
#pragma once

#include <array>

#include "parts.h"

namespace {

// 2^(i / 64), each as the sum of two numbers.
struct ExpStep {
  double high, low;
};

// For m of 0.6875 to 1.375, by the first seven bits of its fraction: a number of few bits near 1 /
// m, and the logarithm of the number's inverse: a multiple of 2^-42, so that it can be added to n
// log(2) exactly, and the rest.
struct LogStep {
  double inverse, high, low;
};

// x * y, all of them times 2^126. REQUIRES: x, y < 2.
constexpr Wide product_of_fixed(Wide x, Wide y) {
  const Wide x_high = x >> 64, x_low = x & UINT64_MAX, y_high = y >> 64, y_low = y & UINT64_MAX;
  return (x_high * y_high << 2) + (x_high * y_low >> 62) + (x_low * y_high >> 62);
}

constexpr std::array<ExpStep, 64> exp_steps() {
  std::array<ExpStep, 64> table = {};
  constexpr Wide kWideLn2 = Wide{0x2C5C85FDF473DE6AU} << 64 | 0xF278ECE600FCBDABU;
  for (unsigned i = 0; i < 64; ++i) {
    Wide power = 0, term = Wide{1} << 126;
    for (unsigned k = 1; term != 0; ++k) {
      power += term;
      term = product_of_fixed(term, kWideLn2 / 64 * i) / k;
    }
    const auto high = static_cast<double>(power);
    const auto rest = static_cast<SignedWide>(power - static_cast<Wide>(high));
    table[i] = {high * 0x1p-126, static_cast<double>(rest) * 0x1p-126};
  }
  return table;
}

// log(512 / n) times 2^119: 2 atanh((512 - n) / (512 + n)).
constexpr SignedWide log_of_inverse(int n) {
  SignedWide sum = 0;
  SignedWide term = (SignedWide{1} << 119) * (512 - n) / (512 + n);
  for (int k = 1; term != 0; k += 2) {
    sum += 2 * term / k;
    term = term * (512 - n) / (512 + n) * (512 - n) / (512 + n);
  }
  return sum;
}

constexpr std::array<LogStep, 128> log_steps() {
  std::array<LogStep, 128> table = {};
  for (unsigned i = 0; i < 128; ++i) {
    // The middle of m's interval times 512, and the number near its inverse times that.
    const int middle = static_cast<int>(i < 80 ? 2 * i + 353 : 4 * i + 194);
    const int n = i == 79 || i == 80 ? 512 : ((1 << 19) + middle) / (2 * middle);  // beside 1: 1
    const SignedWide log = log_of_inverse(n);
    const SignedWide high = (log + (SignedWide{1} << 76)) >> 77;
    table[i] = {n / 512.0, static_cast<double>(high) * 0x1p-42,
                static_cast<double>(log - (high * (SignedWide{1} << 77))) * 0x1p-119};
  }
  return table;
}

constexpr std::array<ExpStep, 64> kExpSteps = exp_steps();
constexpr std::array<LogStep, 128> kLogSteps = log_steps();

}  // namespace
