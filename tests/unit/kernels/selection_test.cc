// SPDX-License-Identifier: Apache-2.0
// Kernels that find elements and move rows.
#include "tfaot/kernels/abi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::AddRowsCall;
using kernels::GatherCall;
using kernels::GatherPart;
using kernels::TopKCall;

class Selection : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Selection, ::testing::ValuesIn(all_levels()), name_of_level);

// The order as abi.h has it, in the language of numbers.
template <typename T>
bool is_less(T a, T b, bool is_total) {
  return a < b || (!std::isnan(a) && std::isnan(b)) ||
         (is_total && a == b && std::signbit(a) && !std::signbit(b));
}

// Few values, so that many are equal, and all kinds of numbers.
template <typename T>
T random_element(Random& random, Int values) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       -Limits::quiet_NaN(),
                       T{0},
                       -T{0},
                       Limits::denorm_min(),
                       Limits::max(),
                       Limits::lowest()};
  if (random.one_in(5)) return special[random.between(0, std::size(special) - 1)];
  return static_cast<T>(random.between(-values, values)) / 8;
}

template <typename T>
bool has_same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

enum class Elements { kAny, kRising, kFalling };

template <typename T>
void check_top_k(Kernel kernel, const TopKCall& c, Elements elements, Random& random) {
  SCOPED_TRACE(std::to_string(c.count) + " of " + std::to_string(c.rows) + " x " +
               std::to_string(c.size) + ", order " + std::to_string(c.order));
  Tensor<T> x(c.rows * c.size);
  Tensor<T> values(c.rows * c.count);
  Tensor<float> places(c.rows * c.count);
  Tensor<T> scratch(kernels::top_k_scratch_bytes(c, sizeof(T)) / static_cast<Int>(sizeof(T)), 64);
  const Int different = random.one_in(2) ? 4 : 4 * c.size;
  for (Int i = 0; i < x.size(); ++i) x[i] = random_element<T>(random, different);
  const bool is_total = (c.order & kernels::kTopKTotalOrder) != 0;
  const bool is_descending = (c.order & kernels::kTopKDescending) != 0;
  const auto is_before = [=](T a, T b) {
    return is_descending ? is_less(b, a, is_total) : is_less(a, b, is_total);
  };
  if (elements != Elements::kAny) {
    std::sort(x.data(), x.data() + x.size(), is_before);
    if (elements == Elements::kFalling) std::reverse(x.data(), x.data() + x.size());
  }
  void* out[] = {values.data(), places.data(), scratch.data()};
  const void* in[] = {&c, x.data()};
  kernel(out, in);

  std::vector<std::int32_t> found(static_cast<std::size_t>(places.size()));
  std::memcpy(found.data(), places.data(), found.size() * sizeof found[0]);
  for (Int row = 0; row < c.rows; ++row) {
    const T* own = x.data() + row * c.size;
    std::vector<std::int32_t> order(static_cast<std::size_t>(c.size));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return is_before(own[a], own[b]); });
    for (Int i = 0; i < c.count; ++i) {
      const std::int32_t wanted = order[static_cast<std::size_t>(i)];
      ASSERT_EQ(found[static_cast<std::size_t>(row * c.count + i)], wanted)
          << "row " << row << ", element " << i;
      ASSERT_TRUE(has_same_bits(values[row * c.count + i], own[wanted]));
    }
  }
}

template <typename T>
void check_random_top_k(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  const Int sizes[] = {20, 70, 220, 1500};
  for (Int i = 0; i < 600 && !::testing::Test::HasFailure(); ++i) {
    TopKCall call = {};
    call.rows = random.between(1, random.one_in(2) ? 3 : 40);
    call.size = random.between(1, sizes[random.between(0, 3)]);
    call.count = random.between(1, random.one_in(3) ? call.size : std::min<Int>(call.size, 40));
    call.order = random.between(0, 3);
    const Elements kinds[] = {Elements::kAny, Elements::kRising, Elements::kFalling};
    check_top_k<T>(kernel, call, kinds[random.one_in(3) ? random.between(1, 2) : 0], random);
  }
}

TEST_P(Selection, FindsTheFirstElementsInOrder) {
  check_random_top_k<float>(kernels<float>().top_k, 1);
  check_random_top_k<double>(kernels<double>().top_k, 2);
}

// A part of each row, with what it takes and where.
template <typename T>
struct Part {
  GatherPart of{};
  std::vector<T> x;
  std::vector<char> places;  // of any type
  std::vector<Int> wanted;   // the place of each row
};

template <typename Place>
Place random_place(Random& random, Int rows) {
  using Limits = std::numeric_limits<Place>;
  if (random.one_in(8)) return random.one_in(2) ? Limits::max() : Limits::lowest();
  if (Limits::has_quiet_NaN && random.one_in(8)) return Limits::quiet_NaN();
  const auto place = static_cast<Place>(random.between(-2, rows + 1));
  return Limits::is_integer ? place : place + static_cast<Place>(0.75);
}

template <typename Place>
Int nearest_place(Place place, Int rows) {
  if (std::isnan(static_cast<double>(place)) || place <= 0) return 0;
  return place >= static_cast<Place>(rows) ? rows - 1 : std::min(static_cast<Int>(place), rows - 1);
}

template <typename Place, typename T>
void fill_places(Part<T>& part, Int rows, Random& random) {
  std::vector<Place> places;
  for (Int i = 0; i < part.of.place_at + rows * part.of.place_step; ++i) {
    places.push_back(random_place<Place>(random, part.of.x_rows));
  }
  for (Int i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(part.of.place_at + i * part.of.place_step);
    part.wanted.push_back(nearest_place(places[at], part.of.x_rows));
  }
  part.places.resize(places.size() * sizeof(Place));
  std::memcpy(part.places.data(), places.data(), part.places.size());
}

// `of` has its elements and the type of its places.
template <typename T>
void fill_part(Part<T>& part, Int rows, Random& random) {
  GatherPart& of = part.of;
  of.x_at = random.between(0, 3);
  of.x_step = of.elements + random.between(0, 3);
  of.x_rows = of.place_type == kernels::kPlacesInOrder ? rows : random.between(1, 9);
  of.place_at = random.between(0, 2);
  of.place_step = random.between(1, 3);
  switch (of.place_type) {
    case kernels::kPlacesInt32:
      fill_places<std::int32_t>(part, rows, random);
      break;
    case kernels::kPlacesInt64:
      fill_places<Int>(part, rows, random);
      break;
    case kernels::kPlacesFloat32:
      fill_places<float>(part, rows, random);
      break;
    case kernels::kPlacesFloat64:
      fill_places<double>(part, rows, random);
      break;
    case kernels::kPlacesRepeated: {
      of.place_at = random.between(1, 5);
      of.places = random.between(1, 4);
      of.x_rows = 0;
      for (Int block = 0; static_cast<Int>(part.wanted.size()) < rows; ++block) {
        of.x_rows += of.place_at;
        for (Int i = 0; i < of.places * of.place_at * of.place_step; ++i) {
          part.wanted.push_back(block * of.place_at + i / of.place_step % of.place_at);
        }
      }
      break;
    }
    default:
      for (Int i = 0; i < rows; ++i) part.wanted.push_back(i);
  }
  for (Int i = 0; i < of.x_at + of.x_rows * of.x_step; ++i) {
    part.x.push_back(static_cast<T>(random.between(-1000, 1000)));
  }
}

template <typename T>
Part<T> random_part(Int rows, Random& random) {
  Part<T> part;
  const Int sizes[] = {4, 8, 16, 32, random.between(1, 5), random.between(1, 100)};
  part.of.elements = sizes[random.between(0, 5)];
  part.of.place_type = random.between(kernels::kPlacesInOrder, kernels::kPlacesFloat64);
  fill_part(part, rows, random);
  return part;
}

// The parts' numbers of operands, and the operands; the first one is the struct, with its parts.
template <typename Call, typename T>
std::vector<char> words_with_operands(const Call& call, std::vector<Part<T>>& parts,
                                      std::vector<const void*>& in) {
  in = {nullptr};
  for (Part<T>& part : parts) {
    part.of.x = static_cast<Int>(in.size());
    in.push_back(part.x.data());
    if (part.places.empty()) continue;
    part.of.places = static_cast<Int>(in.size());
    in.push_back(part.places.data());
  }
  std::vector<char> words(sizeof call + parts.size() * sizeof(GatherPart));
  std::memcpy(words.data(), &call, sizeof call);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(words.data() + sizeof call + i * sizeof(GatherPart), &parts[i].of,
                sizeof(GatherPart));
  }
  in.front() = words.data();
  return words;
}

template <typename T>
void check_gather(Kernel kernel, Random& random) {
  GatherCall c = {};
  c.rows = random.between(1, random.one_in(4) ? 200 : 12);
  c.parts = random.between(1, 4);
  std::vector<Part<T>> parts;
  for (Int i = 0; i < c.parts; ++i) {
    c.row += parts.emplace_back(random_part<T>(c.rows, random)).of.elements;
  }
  std::vector<const void*> in;
  const auto words = words_with_operands(c, parts, in);
  Tensor<T> result(c.rows * c.row);
  kernel(result.data(), in.data());
  note_bits(result);
  Int at = 0;
  for (Int row = 0; row < c.rows; ++row) {
    for (const Part<T>& part : parts) {
      const Int place = part.wanted[static_cast<std::size_t>(row)];
      for (Int i = 0; i < part.of.elements; ++i, ++at) {
        const Int from = part.of.x_at + place * part.of.x_step + i;
        ASSERT_EQ(result[at], part.x[static_cast<std::size_t>(from)])
            << "row " << row << ", element " << i << ", places of type " << part.of.place_type;
      }
    }
  }
}

TEST_P(Selection, GathersParts) {
  Random random(3);
  for (Int i = 0; i < 400 && !HasFailure(); ++i) {
    check_gather<float>(kernels<float>().gather, random);
    check_gather<double>(kernels<double>().gather, random);
  }
}

template <typename T>
void check_added_rows(Kernel kernel, Random& random) {
  AddRowsCall c = {};
  c.rows = random.between(1, random.one_in(4) ? 200 : 12);
  c.row = random.between(1, random.one_in(2) ? 100 : 20);
  c.parts = random.between(2, kernels::kMostAddedRows);
  c.relu = random.between(0, 1);
  std::vector<Part<T>> parts(static_cast<std::size_t>(c.parts));
  for (Part<T>& part : parts) {
    part.of.elements = c.row;
    part.of.place_type = random.between(kernels::kPlacesInOrder, kernels::kPlacesRepeated);
    fill_part(part, c.rows, random);
  }
  std::vector<const void*> in;
  const auto words = words_with_operands(c, parts, in);
  Tensor<T> result(c.rows * c.row);
  kernel(result.data(), in.data());
  note_bits(result);
  for (Int i = 0; i < result.size(); ++i) {
    T sum = 0;
    for (const Part<T>& part : parts) {
      const Int place = part.wanted[static_cast<std::size_t>(i / c.row)];
      sum += part.x[static_cast<std::size_t>(part.of.x_at + place * part.of.x_step + i % c.row)];
    }
    ASSERT_EQ(result[i], c.relu != 0 ? std::max<T>(sum, 0) : sum)
        << "row " << i / c.row << ", element " << i % c.row;
  }
}

TEST_P(Selection, AddsRows) {
  Random random(4);
  for (Int i = 0; i < 400 && !HasFailure(); ++i) {
    check_added_rows<float>(kernels<float>().add_rows, random);
    check_added_rows<double>(kernels<double>().add_rows, random);
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
