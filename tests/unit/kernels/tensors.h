// SPDX-License-Identifier: Apache-2.0
// Tensors for the kernels' tests: memory aligned exactly as the engine guarantees, guard zones
// around it, and numbers to compare with.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <vector>

#include "tfaot/kernels/abi.h"

// g++ defines a macro, clang++ answers a question.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TFAOT_TEST_ADDRESSES
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TFAOT_TEST_ADDRESSES
#endif
#if defined(TFAOT_TEST_ADDRESSES)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)
#define ASAN_UNPOISON_MEMORY_REGION(address, size)
#endif

namespace tfaot::kernels_test {

using Int = std::int64_t;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// Aligned to `alignment` and not to twice that. Filled with NaN, so that a missing element is
// visible. A write outside fails the test; a read outside fails under the address sanitizer.
template <typename T>
class Tensor {
 public:
  explicit Tensor(Int size, std::size_t alignment = 16) : size_(size), before_(kGuard + alignment) {
    memory_ = static_cast<std::byte*>(operator new (total(), std::align_val_t{kGuard}));
    std::memset(memory_, kPattern, total());
    for (Int i = 0; i < size_; ++i) data()[i] = std::numeric_limits<T>::quiet_NaN();
    ASAN_POISON_MEMORY_REGION(memory_, before_);
    ASAN_POISON_MEMORY_REGION(memory_ + before_ + bytes(), kGuard);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() {
    ASAN_UNPOISON_MEMORY_REGION(memory_, total());
    for (std::size_t i = 0; i < total(); ++i) {
      if (i == before_) i += bytes();
      if (memory_[i] == std::byte{kPattern}) continue;
      ADD_FAILURE() << "a write outside a tensor of " << size_ << " elements, at byte "
                    << static_cast<Int>(i) - static_cast<Int>(before_);
      break;
    }
    operator delete (memory_, std::align_val_t{kGuard});
  }

  T* data() { return static_cast<T*>(static_cast<void*>(memory_ + before_)); }
  const T* data() const {
    return static_cast<const T*>(static_cast<const void*>(memory_ + before_));
  }
  Int size() const { return size_; }
  T& operator[](Int i) { return data()[i]; }
  const T& operator[](Int i) const { return data()[i]; }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr unsigned char kPattern = 0xA5;
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  std::size_t total() const { return before_ + bytes() + kGuard; }

  Int size_;
  std::size_t before_;
  std::byte* memory_;
};

// The same numbers on every machine, for each draw in a statement of its own: compilers evaluate
// arguments and operands in different orders.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  Int between(Int low, Int high) { return std::uniform_int_distribution<Int>(low, high)(engine_); }
  bool one_in(Int n) { return between(1, n) == 1; }
  template <typename T>
  void fill(Tensor<T>& tensor) {
    for (Int i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<T>(2 * fraction() - 1);
  }

 private:
  // That of std::uniform_real_distribution<double>(0, 1), which takes two logarithms of long
  // doubles for every number: with them, numbers were a quarter of the tests' time.
  double fraction() {
    const double low = static_cast<double>(engine_());
    const double high = static_cast<double>(engine_());
    const double number = (low + high * 0x1p32) * 0x1p-64;
    return number < 1 ? number : std::nextafter(1.0, 0.0);
  }

  std::mt19937 engine_;
};

// Any that a kernel knows.
inline Int random_epilogue(Random& random) {
  const Int rectifiers[] = {kernels::kEpilogueNone, kernels::kEpilogueRelu,
                            kernels::kEpilogueRelu6};
  const Int bias = random.between(0, 1) * kernels::kEpilogueBias;
  return bias + rectifiers[random.between(0, 2)];
}

// With or without a sum.
inline Int random_summing_epilogue(Random& random) {
  const Int sum = random.between(0, 1) * kernels::kEpilogueSum;
  return random_epilogue(random) + sum;
}

// Every 2039th float, of both signs, without those that are no numbers.
inline std::vector<float> some_of_all_floats() {
  std::vector<float> all;
  for (std::uint64_t word = 0; word < (std::uint64_t{1} << 32U); word += 2039) {
    const auto bits = static_cast<std::uint32_t>(word);
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    if (std::isfinite(x)) all.push_back(x);
  }
  return all;
}

// A sum in double precision, and the rounding error allowed for a kernel's sum.
template <typename T>
class Sum {
 public:
  void add(double term) {
    value_ += term;
    magnitude_ += std::abs(term);
    ++terms_;
  }
  void relu() { value_ = std::fmax(value_, 0); }
  void at_most(double limit) { value_ = std::fmin(value_, limit); }
  double value() const { return value_; }
  double tolerance() const {
    return (terms_ + 2) * magnitude_ * double{std::numeric_limits<T>::epsilon()} +
           double{std::numeric_limits<T>::min()};
  }

 private:
  double value_ = 0, magnitude_ = 0, terms_ = 0;
};

// A [depth, columns] matrix, packed as in tfaot/kernels/abi.h; matrix(l, j) is its element.
template <typename T, typename Matrix>
void pack(T* to, Int depth, Int columns, const Matrix& matrix) {
  const Int width = kernels::panel_columns(sizeof(T));
  for (Int p = 0; p < kernels::panel_count(columns, sizeof(T)); ++p) {
    for (Int l = 0; l < depth; ++l) {
      for (Int j = p * width; j < (p + 1) * width; ++j) *to++ = j < columns ? matrix(l, j) : T{0};
    }
  }
}

}  // namespace tfaot::kernels_test
