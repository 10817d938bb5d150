// SPDX-License-Identifier: Apache-2.0
#include "bits_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "tfaot/base/text.h"
#include "validated_model.h"

namespace tfaot::toolkit {
namespace {

// Loops take 1, 2, 4, 8, 16 or 32 rows at once: numbers on both sides of these.
constexpr std::int64_t kBitsSizes[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64};

std::string rule_of(std::int64_t rows, const std::vector<std::int64_t>& chunks) {
  return fmt::format("{}:{}", rows, fmt::join(chunks, ","));
}

// The largest sizes first; the last chunk is padded if need be.
std::vector<std::int64_t> largest_first(std::int64_t rows, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> chunks;
  while (rows > 0) {
    const auto above = std::ranges::upper_bound(sizes, rows);
    chunks.push_back(above == sizes.begin() ? sizes.front() : *std::prev(above));
    rows -= chunks.back();
  }
  return chunks;
}

template <class Real>
void set_row(Array& array, std::size_t row, OtherRows by) {
  const std::size_t width =
      array.bytes.size() / sizeof(Real) / static_cast<std::size_t>(array.shape.front());
  const Real infinity = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < width; ++i) {
    set_number<Real>(array.bytes, row * width + i,
                     by == OtherRows::kNan ? std::numeric_limits<Real>::quiet_NaN()
                     : i % 2 == 0          ? infinity
                                           : static_cast<Real>(-infinity));
  }
}

}  // namespace

std::vector<std::int64_t> bits_sizes(const Manifest& manifest) {
  if (!composes_batches(manifest)) return manifest.batch_sizes;
  std::set<std::int64_t> sizes(manifest.batch_sizes.begin(), manifest.batch_sizes.end());
  sizes.insert(std::begin(kBitsSizes), std::end(kBitsSizes));
  return {sizes.begin(), sizes.end()};
}

std::vector<std::string> bits_rules(std::int64_t rows, const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> rules = {""};
  for (const std::int64_t size : sizes) {
    const std::int64_t chunks = (rows + size - 1) / size;
    add_new(rules,
            rule_of(rows, std::vector<std::int64_t>(static_cast<std::size_t>(chunks), size)));
  }
  std::vector<std::int64_t> chunks = largest_first(rows, sizes);
  add_new(rules, rule_of(rows, chunks));
  // The other way round, unless the padding of the last chunk would then be in the first one.
  if (std::accumulate(chunks.begin(), chunks.end(), std::int64_t{0}) == rows) {
    std::ranges::reverse(chunks);
    add_new(rules, rule_of(rows, chunks));
  }
  return rules;
}

std::vector<Array> rows_of(const std::vector<Array>& arrays,
                           const std::vector<std::int64_t>& rows) {
  std::vector<Array> picked;
  for (const Array& array : arrays) {
    const auto all = static_cast<std::size_t>(array.shape.front());
    const std::size_t bytes = all == 0 ? 0 : array.bytes.size() / all;
    Array& part = picked.emplace_back(Array{array.name, array.dtype, array.shape, {}});
    part.shape.front() = std::ssize(rows);
    part.bytes.reserve(bytes * rows.size());
    for (const std::int64_t row : rows) {
      part.bytes.append(array.bytes, static_cast<std::size_t>(row) * bytes, bytes);
    }
  }
  return picked;
}

std::vector<Array> with_other_rows(std::vector<Array> arrays, const std::vector<std::int64_t>& rows,
                                   OtherRows by) {
  for (Array& array : arrays) {
    const std::size_t bytes = array.bytes.size() / static_cast<std::size_t>(array.shape.front());
    for (const std::int64_t row : rows) {
      const auto place = static_cast<std::size_t>(row);
      if (by == OtherRows::kZeros) {
        array.bytes.replace(place * bytes, bytes, bytes, '\0');
        continue;
      }
      visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
        if constexpr (kIsReal<T>) set_row<T>(array, place, by);
      });
    }
  }
  return arrays;
}

std::vector<std::int64_t> shuffled_rows(std::int64_t rows) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random;  // std::shuffle() differs between libraries
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
  return order;
}

std::vector<std::vector<std::string>> comparable_levels(const CompiledModel& model,
                                                        ComputeType compute,
                                                        const std::vector<std::string>& levels) {
  const auto features_of = [&](const std::string& level) {
    const auto code = std::ranges::find(model.codes, level, &CompiledCode::cpu_level);
    return LevelFeatures{level, code->cpu_features};
  };
  return levels_of_same_bits(model.target_triple, compute, mapped(levels, features_of));
}

}  // namespace tfaot::toolkit
