// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/fill.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace tfaot::toolkit {
namespace {

// The numbers of one array after another. std::uniform_real_distribution differs between libraries.
class Numbers {
 public:
  explicit Numbers(const FillOptions& options) : filling_(options.filling), random_(options.seed) {}

  // `digits`: the binary ones of the array's type, which has all whole numbers of so many.
  void start_array(int digits) {
    index_ = 0;
    last_index_ = (std::uint64_t{1} << std::min(digits, kMostDigits)) - 1;
  }

  double next_real() {
    switch (filling_) {
      case Filling::kRandom:
        return static_cast<double>(random_() >> 11) * 0x1p-52 - 1;  // 53 bits
      case Filling::kZeros:
        return 0;
      case Filling::kOnes:
        return 1;
      case Filling::kIncremental:
        break;
    }
    return static_cast<double>(index_++ & last_index_);
  }
  // Not negative, so that it can be an index.
  std::int64_t next_whole() {
    const double real = next_real();
    return filling_ == Filling::kRandom ? (real > 0 ? 1 : 0) : static_cast<std::int64_t>(real);
  }

 private:
  static constexpr int kMostDigits = 53;  // of a double

  Filling filling_;
  std::mt19937_64 random_;
  std::uint64_t index_ = 0;
  std::uint64_t last_index_ = 0;
};

template <class T>
void fill_as(std::string& bytes, Numbers& numbers) {
  const auto next = [&numbers] {
    if constexpr (std::is_same_v<T, bool>) {
      return numbers.next_whole() % 2 != 0;
    } else if constexpr (kIsReal<T>) {
      return static_cast<T>(numbers.next_real());
    } else {
      return static_cast<T>(numbers.next_whole());
    }
  };
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    const T value = next();
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

void fill_array(Array& array, Numbers& numbers) {
  visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
    numbers.start_array(std::numeric_limits<T>::digits);
    fill_as<T>(array.bytes, numbers);
  });
}

}  // namespace

std::vector<Array> filled_arrays(const std::vector<TensorSpec>& tensors,
                                 const FillOptions& options) {
  Numbers numbers(options);
  std::vector<Array> arrays;
  for (const TensorSpec& tensor : tensors) {
    fill_array(arrays.emplace_back(make_array(tensor, options.rows)), numbers);
  }
  return arrays;
}

}  // namespace tfaot::toolkit
