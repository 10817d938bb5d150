// SPDX-License-Identifier: Apache-2.0
// The sort and the top k that XLA's code calls by name, without the memory that XLA's own take:
// elements change places where they are. Stable, so each result is the only one there is.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

namespace {

using LessThan = void (*)(char* result, char* options, char** pairs, char** buffers,
                          std::int64_t* counters);

// The elements of several arrays along one dimension: element i of all of them moves as one.
class SortedLine {
 public:
  struct Arrays {
    char** values;
    const std::int32_t* sizes;  // bytes of an element
    std::int32_t count;
    std::int64_t stride;  // elements
  };
  // `pairs` has room for two elements of each array.
  SortedLine(const Arrays& arrays, std::int64_t first, char** pairs, LessThan less, char* options,
             std::int64_t* counters)
      : arrays_(arrays),
        first_(first),
        pairs_(pairs),
        less_(less),
        options_(options),
        counters_(counters) {}

  void sort(std::int64_t length) {
    if (length <= kMostIndices) return sort_indices(static_cast<std::int32_t>(length));
    for (std::int64_t run = 1; run < length; run *= 2) {
      for (std::int64_t begin = 0; begin + run < length; begin += 2 * run) {
        merge(begin, begin + run, std::min(begin + 2 * run, length));
      }
    }
  }

 private:
  static constexpr std::int64_t kMostIndices = 2048;  // of which there is room on the stack

  // Few elements: their indices are sorted, and each element moves once.
  void sort_indices(std::int32_t length) {
    std::int32_t both[2][kMostIndices];
    std::int32_t* from = both[0];
    std::int32_t* to = both[1];
    std::iota(from, from + length, 0);
    const auto less = [this](std::int32_t a, std::int32_t b) { return is_less(a, b); };
    for (std::int32_t run = 1; run < length; run *= 2) {
      for (std::int32_t begin = 0; begin < length; begin += 2 * run) {
        const std::int32_t middle = std::min(begin + run, length);
        const std::int32_t end = std::min(middle + run, length);
        std::merge(from + begin, from + middle, from + middle, from + end, to + begin, less);
      }
      std::swap(from, to);
    }
    for (std::int32_t start = 0; start < length; ++start) {
      std::int32_t i = start;
      while (from[i] != start) {
        swap(i, from[i]);
        i = std::exchange(from[i], i);
      }
      from[i] = i;
    }
  }

  char* element(std::int32_t array, std::int64_t i) const {
    return arrays_.values[array] + (first_ + i * arrays_.stride) * arrays_.sizes[array];
  }

  bool is_less(std::int64_t a, std::int64_t b) {
    for (std::int32_t array = 0; array < arrays_.count; ++array) {
      pairs_[2 * array] = element(array, a);
      pairs_[2 * array + 1] = element(array, b);
    }
    char result = 0;
    less_(&result, options_, pairs_, nullptr, counters_);
    return result != 0;
  }

  void swap(std::int64_t a, std::int64_t b) {
    for (std::int32_t array = 0; array < arrays_.count; ++array) {
      std::swap_ranges(element(array, a), element(array, a) + arrays_.sizes[array],
                       element(array, b));
    }
  }

  void reverse(std::int64_t begin, std::int64_t end) {
    for (--end; begin < end; ++begin, --end) swap(begin, end);
  }

  // The first of begin .. end that `goes_right` holds for, which holds for all after it.
  template <class Condition>
  static std::int64_t border(std::int64_t begin, std::int64_t end, Condition goes_right) {
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (goes_right(middle)) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    return begin;
  }

  // Two sorted neighbours become one: halves the longer one, finds where the other one is cut by
  // the same value, and exchanges what lies between the cuts.
  void merge(std::int64_t begin, std::int64_t middle, std::int64_t end) {
    while (begin < middle && middle < end && is_less(middle, middle - 1)) {
      std::int64_t left = 0, right = 0;
      if (middle - begin > end - middle) {
        left = begin + (middle - begin) / 2;
        right = border(middle, end, [&](std::int64_t i) { return !is_less(i, left); });
      } else {
        right = middle + (end - middle) / 2;
        left = border(begin, middle, [&](std::int64_t i) { return is_less(right, i); });
        if (end - middle == 1) right = end;
      }
      reverse(left, middle);
      reverse(middle, right);
      reverse(left, right);
      const std::int64_t cut = left + (right - middle);
      merge(begin, left, cut);
      begin = cut;
      middle = right;
    }
  }

  Arrays arrays_;
  std::int64_t first_;
  char** pairs_;
  LessThan less_;
  char* options_;
  std::int64_t* counters_;
};

// In the order -NaN, -infinity, ..., -0, 0, ..., infinity, NaN.
std::int32_t place_of(float number) {
  std::int32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits < 0 ? bits ^ INT32_MAX : bits;
}

}  // namespace

extern "C" {

// Sorts along the second dimension of arrays [a, b, c].
void __xla_cpu_runtime_KeyValueSort(std::int64_t a, std::int64_t b, std::int64_t c, char** values,
                                    std::int32_t values_count, std::int32_t* sizes, bool,
                                    char* options, std::int64_t* counters, LessThan less) {
  auto* const pairs = static_cast<char**>(
      __builtin_alloca(2 * static_cast<std::size_t>(values_count) * sizeof(char*)));
  for (std::int64_t outer = 0; outer < a; ++outer) {
    for (std::int64_t inner = 0; inner < c; ++inner) {
      SortedLine({values, sizes, values_count, c}, outer * b * c + inner, pairs, less, options,
                 counters)
          .sort(b);
    }
  }
}

// The k largest numbers of each row, the largest first, and where they are. Of equal ones the first
// comes first.
void __xla_cpu_runtime_TopKF32(std::int64_t rows, std::int64_t length, std::int64_t k,
                               const float* values, float* out_values, std::int32_t* out_indices) {
  for (std::int64_t row = 0; row < rows;
       ++row, values += length, out_values += k, out_indices += k) {
    const auto comes_first = [values](std::int32_t i, std::int32_t j) {
      const std::int32_t a = place_of(values[i]), b = place_of(values[j]);
      return a != b ? a > b : i < j;
    };
    // A heap whose first is the last of the best so far.
    std::int32_t* const end = out_indices + k;
    std::iota(out_indices, end, 0);
    std::make_heap(out_indices, end, comes_first);
    for (auto i = static_cast<std::int32_t>(k); k > 0 && i < length; ++i) {
      if (!comes_first(i, *out_indices)) continue;
      std::pop_heap(out_indices, end, comes_first);
      end[-1] = i;
      std::push_heap(out_indices, end, comes_first);
    }
    std::sort_heap(out_indices, end, comes_first);
    for (std::int64_t i = 0; i < k; ++i) out_values[i] = values[out_indices[i]];
  }
}

}  // extern "C"
