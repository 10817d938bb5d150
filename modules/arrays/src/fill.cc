// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/fill.h"

#include <cstring>
#include <random>

namespace tfaot::toolkit {
namespace {

// The numbers of one array after another. std::uniform_real_distribution differs between libraries.
class Numbers {
 public:
  explicit Numbers(const FillOptions& options) : filling_(options.filling), random_(options.seed) {}

  void start_array() { index_ = 0; }

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
    return static_cast<double>(index_++);
  }
  // Not negative, so that it can be an index.
  std::int64_t next_whole() {
    const double real = next_real();
    return filling_ == Filling::kRandom ? (real > 0 ? 1 : 0) : static_cast<std::int64_t>(real);
  }

 private:
  Filling filling_;
  std::mt19937_64 random_;
  std::uint64_t index_ = 0;
};

template <class T, class Next>
void fill_with(std::string& bytes, Next next) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    const T value = static_cast<T>(next());
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

void fill_array(Array& array, Numbers& numbers) {
  numbers.start_array();
  const auto real = [&] { return numbers.next_real(); };
  const auto whole = [&] { return numbers.next_whole(); };
  switch (array.dtype) {
    case DType::kBool:
      return fill_with<bool>(array.bytes, [&] { return whole() % 2 != 0; });
    case DType::kInt32:
      return fill_with<std::int32_t>(array.bytes, whole);
    case DType::kInt64:
      return fill_with<std::int64_t>(array.bytes, whole);
    case DType::kFloat32:
      return fill_with<float>(array.bytes, real);
    case DType::kFloat64:
      return fill_with<double>(array.bytes, real);
  }
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
