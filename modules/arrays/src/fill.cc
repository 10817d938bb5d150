// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/fill.h"

#include <algorithm>
#include <bit>
#include <cmath>
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
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) set_number<T>(bytes, i, next());
}

void fill_array(Array& array, Numbers& numbers) {
  visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
    numbers.start_array(std::numeric_limits<T>::digits);
    fill_as<T>(array.bytes, numbers);
  });
}

// SplitMix64's step: every bit of the result depends on every bit of the number.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// Sums of a net depend on the size of its inputs.
double scale_of_row(std::uint64_t row) { return row % 4 == 1 ? 16 : row % 4 == 3 ? 1.0 / 16 : 1; }

template <class T>
void fill_counted(Array& array, std::uint64_t key) {
  const auto rows = static_cast<std::size_t>(array.shape.front());
  const std::size_t width = rows == 0 ? 0 : array.bytes.size() / sizeof(T) / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t of_row = mixed(key + row);
    for (std::size_t i = 0; i < width; ++i) {
      const double real = static_cast<double>(mixed(of_row + i) >> 11) * 0x1p-52 - 1;
      if constexpr (kIsReal<T>) {
        set_number<T>(array.bytes, row * width + i, static_cast<T>(real * scale_of_row(row)));
      } else {
        set_number<T>(array.bytes, row * width + i, static_cast<T>(real > 0));
      }
    }
  }
}

constexpr double kLargeTimes = 10'000;
constexpr double kPaddingNumber = -999;
constexpr double kMillionNumber = 1e6;
constexpr double kOneOfTwo = 0.75;  // shares are from 0.5 to 1

bool has_reals(const TensorSpec& tensor) { return is_real(tensor.dtype); }
bool has_wholes(const TensorSpec& tensor) {
  return !is_real(tensor.dtype) && tensor.dtype != DType::kBool;
}

// Replaces each number by `change(number)`.
template <class Number, class Change>
void change_all(Array& array, Change change) {
  for (std::size_t i = 0; i < array.bytes.size() / sizeof(Number); ++i) {
    set_number<Number>(array.bytes, i, change(number_at<Number>(array.bytes, i)));
  }
}

// Puts +value or -value at one place of each row: another place and the other sign in the next row.
template <class Real>
void set_one_of_each_row(Array& array, Real value) {
  const auto rows = static_cast<std::size_t>(array.shape.front());
  const std::size_t width = rows == 0 ? 0 : array.bytes.size() / sizeof(Real) / rows;
  for (std::size_t row = 0; width > 0 && row < rows; ++row) {
    set_number(array.bytes, row * width + row % width, Real(row % 2 == 0 ? value : -value));
  }
}

template <class Real>
void set_all(Array& array, double value) {
  const auto most = static_cast<double>(std::numeric_limits<Real>::max());
  const auto number = static_cast<Real>(std::min(value, most));
  change_all<Real>(array, [number](Real) { return number; });
}

template <class Real>
void change_reals(Array& array, InputKind kind) {
  using Limits = std::numeric_limits<Real>;
  switch (kind) {
    case InputKind::kMinusOnes:
      return set_all<Real>(array, -1);
    case InputKind::kPadding:
      return set_all<Real>(array, kPaddingNumber);
    case InputKind::kMillion:
      return set_all<Real>(array, kMillionNumber);
    case InputKind::kLarge:
      return change_all<Real>(array,
                              [](Real number) { return static_cast<Real>(number * kLargeTimes); });
    case InputKind::kHuge:
      return set_one_of_each_row(array, static_cast<Real>(Limits::max() / 2));
    case InputKind::kDenormal:
      return change_all<Real>(
          array, [](Real number) { return static_cast<Real>(number * Limits::min()); });
    case InputKind::kNan:
      return set_one_of_each_row<Real>(array, Limits::quiet_NaN());
    case InputKind::kInfinity:
      return set_one_of_each_row<Real>(array, Limits::infinity());
    default:
      return;
  }
}

// Of every number of binary digits equally many; a sign, if the type has one.
template <class Whole>
void set_wide(Array& array, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  change_all<Whole>(array, [&](Whole) {
    const std::uint64_t bits = random();
    const auto digits = static_cast<int>(bits % (std::numeric_limits<Whole>::digits + 1));
    const std::uint64_t size = digits == 0 ? 0 : random() >> (64 - digits);
    const auto number = static_cast<Whole>(size);
    const bool is_negative = std::is_signed_v<Whole> && (bits >> 63) != 0;
    return is_negative ? static_cast<Whole>(-number) : number;
  });
}

template <class Whole>
void change_wholes(Array& array, const EdgeOptions& options) {
  using Limits = std::numeric_limits<Whole>;
  if (options.kind == InputKind::kWide) set_wide<Whole>(array, options.seed);
  if (options.kind == InputKind::kLargest) {
    change_all<Whole>(array, [](Whole) { return Limits::max(); });
  }
  if (options.kind == InputKind::kSmallest) {
    change_all<Whole>(array, [](Whole) { return Limits::min(); });
  }
}

// Calls `set(element, is_rest)` for each element of the array, by position. The rest of a row is at
// the end of its longest dimension, at most a half of it, and the same share in all inputs. A
// single number is the rest in half of the rows.
template <class Set>
void for_each_with_rest(const Array& array, std::uint64_t seed, Set set) {
  const std::vector<std::int64_t> row_shape(array.shape.begin() + 1, array.shape.end());
  const auto longest = std::ranges::max_element(row_shape);
  const std::int64_t length = row_shape.empty() ? 1 : *longest;
  std::int64_t inner = 1;
  for (auto after = longest; after != row_shape.end() && ++after != row_shape.end();) {
    inner *= *after;
  }
  std::int64_t width = 1;
  for (const std::int64_t size : row_shape) width *= size;
  std::mt19937_64 random(seed);
  for (std::int64_t row = 0, element = 0; row < array.shape.front(); ++row) {
    const double share = 0.5 + static_cast<double>(random() >> 11) * 0x1p-54;
    const auto counted = static_cast<std::int64_t>(share * static_cast<double>(length));
    for (std::int64_t i = 0; i < width; ++i, ++element) {
      const bool is_rest = length > 1 ? i / inner % length >= counted : share < kOneOfTwo;
      set(static_cast<std::size_t>(element), is_rest);
    }
  }
}

template <class Number>
void draw(Array& array, const InputUse& use, std::uint64_t seed) {
  const auto put = [&](std::size_t element, double value) {
    set_number(array.bytes, element, static_cast<Number>(value));
  };
  std::mt19937_64 random(seed);
  for_each_with_rest(array, seed, [&](std::size_t element, bool is_rest) {
    if (use.role == InputRole::kMask) put(element, is_rest ? 0 : 1);
    if (use.role == InputRole::kPadded && is_rest) put(element, use.value);
    if (use.role == InputRole::kIndex) {
      const double share = static_cast<double>(random() >> 11) * 0x1p-53;
      put(element, std::floor(share * (use.value + 1)));
    }
  });
}

template <class T>
void fill_by_kind(Array& array, const EdgeOptions& options) {
  if constexpr (kIsReal<T>) {
    change_reals<T>(array, options.kind);
  } else if constexpr (!std::is_same_v<T, bool>) {
    change_wholes<T>(array, options);
  }
}

// One of the two neighbours of a number. Those of a largest number would be infinite.
template <class Real>
Real neighbour(Real number, std::uint64_t seed) {
  using Bits =
      std::conditional_t<sizeof(Real) == 8, std::uint64_t,
                         std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint16_t>>;
  const auto value = static_cast<double>(number);
  if (!std::isfinite(value) || value == 0) return number;
  const auto bits = std::bit_cast<Bits>(number);
  const bool is_away = (std::mt19937_64(bits + seed)() >> 63) != 0;
  const auto moved = std::bit_cast<Real>(static_cast<Bits>(is_away ? bits + 1 : bits - 1));
  return std::isfinite(static_cast<double>(moved)) ? moved : number;
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

std::vector<Array> counted_arrays(const std::vector<TensorSpec>& tensors, std::int64_t rows,
                                  std::uint64_t seed) {
  std::vector<Array> arrays;
  for (const TensorSpec& tensor : tensors) {
    Array& array = arrays.emplace_back(make_array(tensor, rows));
    const std::uint64_t key = mixed(mixed(seed) + (arrays.size() - 1));
    visit_dtype(array.dtype, [&]<class T>(ElementType<T>) { fill_counted<T>(array, key); });
  }
  return arrays;
}

std::vector<InputKind> kinds_of_inputs(const std::vector<TensorSpec>& tensors) {
  std::vector<InputKind> kinds = {InputKind::kRandom, InputKind::kZeros, InputKind::kOnes};
  const bool reals = std::ranges::any_of(tensors, has_reals);
  const bool wholes = std::ranges::any_of(tensors, has_wholes);
  if (reals) {
    kinds.insert(kinds.end(), {InputKind::kMinusOnes, InputKind::kPadding, InputKind::kMillion});
  }
  if (wholes) kinds.push_back(InputKind::kWide);
  if (reals) {
    kinds.insert(kinds.end(), {InputKind::kLarge, InputKind::kHuge, InputKind::kDenormal,
                               InputKind::kNan, InputKind::kInfinity});
  }
  if (wholes) kinds.insert(kinds.end(), {InputKind::kLargest, InputKind::kSmallest});
  return kinds;
}

std::vector<Array> edge_arrays(const std::vector<TensorSpec>& tensors, const EdgeOptions& options) {
  const Filling filling = options.kind == InputKind::kZeros  ? Filling::kZeros
                          : options.kind == InputKind::kOnes ? Filling::kOnes
                                                             : Filling::kRandom;
  std::vector<Array> arrays =
      filled_arrays(tensors, {.filling = filling, .rows = options.rows, .seed = options.seed});
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const InputUse use = options.uses.empty() ? InputUse() : options.uses[i];
    const bool by_use = use.role != InputRole::kNumbers && filling == Filling::kRandom;
    visit_dtype(arrays[i].dtype, [&]<class T>(ElementType<T>) {
      by_use ? draw<T>(arrays[i], use, options.seed) : fill_by_kind<T>(arrays[i], options);
    });
  }
  return arrays;
}

std::vector<Array> moved_arrays(std::vector<Array> arrays, const std::vector<InputUse>& uses,
                                std::uint64_t seed) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!uses.empty() && uses[i].role != InputRole::kNumbers) continue;
    visit_dtype(arrays[i].dtype, [&]<class T>(ElementType<T>) {
      if constexpr (kIsReal<T>) {
        change_all<T>(arrays[i], [seed](T number) { return neighbour(number, seed); });
      }
    });
  }
  return arrays;
}

}  // namespace tfaot::toolkit
