// SPDX-License-Identifier: Apache-2.0
// tfaot_top_k of abi.h. An element becomes an integer, its key, so that smaller keys come
// first. Of few elements, the place of each is the number of those before it: vectors count them,
// without a branch that depends on values. A few of many elements are found by letting only those
// pass that come before the last one kept; otherwise the keys are sorted by their bytes.
#include "simd/kernel.h"
#include "simd/transpose.h"

namespace {

using Keys = Vec<Key>;
constexpr Int kKeyLanes = kLanes<Element>;

// The key of an element, or of a vector of them: K is Key or Keys.
template <bool kIsTotal, typename K, typename X>
TFAOT_INLINE K key_of(const X& x, Key flip) {
  auto key = read_as<K>(&x);
  const K magnitude = key & kLargestKey;
  if constexpr (!kIsTotal) key = magnitude == 0 ? K{} : key;
  key = magnitude > kInfinityKey ? K{} + kLargestKey : key;
  return ordered(key) ^ flip;
}

TFAOT_INLINE Key flip_of(Int order) { return (order & kTopKDescending) != 0 ? Key{-1} : Key{0}; }

// Calls use(true_type) for the total order, else use(false_type).
template <typename Use>
TFAOT_INLINE void by_order(Int order, const Use& use) {
  if ((order & kTopKTotalOrder) != 0) return use(std::true_type());
  use(std::false_type());
}

void make_keys(Key* keys, const Element* x, Int count, Int order) {
  const Key flip = flip_of(order);
  by_order(order, [&](auto is_total) {
    for (Int i = 0; i < count; ++i) keys[i] = key_of<is_total, Key>(x[i], flip);
  });
}

// All bits of the lanes after this one.
TFAOT_INLINE Keys lanes_after(Int lane) {
  Keys lanes = {};
  TFAOT_EACH (i, kKeyLanes) lanes[i] = i;
  return lanes > static_cast<Key>(lane);
}

// The first elements of as many rows as a vector has lanes, each row in a lane: no step depends on
// values, and none goes across lanes. Only vectors of 32-bit integers have a minimum and maximum.
#define TFAOT_HAS_LANE_ROWS (TFAOT_IS_F32 && TFAOT_VECTOR_BYTES >= 32)
#if TFAOT_HAS_LANE_ROWS

TFAOT_INLINE Keys first_of(Keys a, Keys b) { return a < b ? a : b; }
TFAOT_INLINE Keys last_of(Keys a, Keys b) { return a > b ? a : b; }

class FirstInLanes {
 public:
  explicit FirstInLanes(const TopKCall& call) : call_(call) {}

  void find(const Element* x) {
    by_order(call_.order, [&](auto is_total) { find_in<is_total>(x); });
  }
  // The place of element number i.
  Key place(Int row, Int i) const { return places_[i][row]; }

 private:
  template <bool kIsTotal>
  void find_in(const Element* x) {
    const Key flip = flip_of(call_.order);
    for (Int j = 0; j < call_.size; j += kQuad) {
      const Int from = smaller(j, call_.size - kQuad);  // the last ones may begin earlier
      alignas(TFAOT_VECTOR_BYTES) Element columns[kQuad * kKeyLanes];
      transpose_quads(columns, kKeyLanes, x + from, kKeyLanes, call_.size);
      for (Int i = j - from; i < kQuad; ++i) {
        meet(key_of<kIsTotal, Keys>(load(columns + i * kKeyLanes), flip), from + i);
      }
    }
  }

  // Inserts a key into the ordered ones before the larger ones, which move on.
  TFAOT_INLINE void meet(Keys key, Int place) {
    const Keys own = Keys{} + static_cast<Key>(place);
    const Int kept = smaller(place, call_.count);
    Keys last_key = key, last_place = own;
    Keys is_placed = {};  // all bits where it is
    for (Int i = 0; i < kept; ++i) {
      const Keys old_key = keys_[i], old_place = places_[i];
      const Keys is_larger = key < old_key;
      keys_[i] = first_of(old_key, i == 0 ? key : last_of(key, last_key));
      places_[i] = is_placed ? last_place : is_larger ? own : old_place;
      is_placed = is_larger;
      last_key = old_key;
      last_place = old_place;
    }
    if (place >= call_.count) return;
    keys_[place] = kept == 0 ? key : last_of(key, last_key);
    places_[place] = is_placed ? last_place : own;
  }

  const TopKCall& call_;
  Keys keys_[kMostFirstTogether];
  Keys places_[kMostFirstTogether];
};

#endif

constexpr Int kMostCounted = 12 * kKeyLanes;  // above, sorting by bytes is faster
constexpr Int kMostKept = kMostCounted / 3;   // of more elements than can be counted at once

// Some elements of a row, equal ones in the row's order. There is room for whole vectors.
struct Some {
  Key keys[kMostCounted + kKeyLanes];
  Key places[kMostCounted + kKeyLanes];
  Int size;

  Some() : size(0) {}  // the arrays stay as they are

  // before[i]: the number of elements that come before element i.
  void count_before(Key* before) const {
    for (Int begin = 0; begin < size; begin += kKeyLanes) {
      const Keys own = load(keys + begin);
      const Int end = smaller(begin + kKeyLanes, size);
      Keys count = {};
      Keys more = {};
      for (Int j = 0; j < begin; ++j) more -= own < Keys{} + keys[j];
      count = count + static_cast<Key>(begin) - more;  // those before it that are not larger
      for (Int j = begin; j < end; ++j) {
        const Keys one = Keys{} + keys[j];  // equal keys in lanes after its own come after it
        count -= (one < own) | ((one == own) & lanes_after(j - begin));
      }
      for (Int j = end; j < size; ++j) count -= Keys{} + keys[j] < own;
      __builtin_memcpy(before + begin, &count, sizeof count);
    }
  }

  void sort() {
    Key before[kMostCounted + kKeyLanes];
    Some sorted;
    count_before(before);
    for (Int i = 0; i < size; ++i) {
      sorted.keys[before[i]] = keys[i];
      sorted.places[before[i]] = places[i];
    }
    const auto bytes = static_cast<unsigned long>(size) * sizeof(Key);
    __builtin_memcpy(keys, sorted.keys, bytes);
    __builtin_memcpy(places, sorted.places, bytes);
  }
};

class TopK {
 public:
  TopK(const TopKCall& call, void* out, const void** in)
      : call_(call),
        x_(operand(in, 1)),
        values_(result(out, 0)),
        places_(result<std::int32_t>(out, 1)),
        scratch_(result<Key>(out, 2)) {}

#if TFAOT_HAS_LANE_ROWS
  // Writes as many rows as a vector has lanes, from `first` on.
  void rows_in_lanes(Int first) const {
    FirstInLanes found(call_);
    found.find(x_ + first * call_.size);
    for (Int lane = 0; lane < kKeyLanes; ++lane) {
      Key places[kMostFirstTogether];
      for (Int i = 0; i < call_.count; ++i) places[i] = found.place(lane, i);
      write(first + lane, places);
    }
  }
#endif

  void row(Int row) const {
    const Element* const x = x_ + row * call_.size;
    if (call_.count == 1) {
      const Key place = place_of_first(x);
      write(row, &place);
    } else if (call_.size <= kMostCounted) {
      write_counted(row, x);
    } else if (call_.count <= kMostKept) {
      write_few(row, x);
    } else {
      write(row, sort_by_bytes(x));
    }
  }

 private:
  void write(Int row, const Key* places) const {
    const Element* const x = x_ + row * call_.size;
    const Int count = call_.count;
    for (Int i = 0; i < count; ++i) {
      values_[row * count + i] = x[places[i]];
      places_[row * count + i] = static_cast<std::int32_t>(places[i]);
    }
  }

  void add(Some& some, const Element* x, Int begin, Int count) const {
    make_keys(some.keys + some.size, x + begin, count, call_.order);
    for (Int i = 0; i < count; ++i) some.places[some.size + i] = static_cast<Key>(begin + i);
    some.size += count;
  }

  Key place_of_first(const Element* x) const {
    make_keys(scratch_, x, call_.size, call_.order);
    Key best = scratch_[0];
    Key place = 0;
    for (Int i = 1; i < call_.size; ++i) {
      const Key key = scratch_[i];
      place = key < best ? static_cast<Key>(i) : place;
      best = key < best ? key : best;
    }
    return place;
  }

  void write_counted(Int row, const Element* x) const {
    Some all;
    make_keys(all.keys, x, call_.size, call_.order);
    all.size = call_.size;
    Key before[kMostCounted + kKeyLanes];
    all.count_before(before);
    for (Int i = 0; i < call_.size; ++i) all.places[before[i]] = static_cast<Key>(i);
    write(row, all.places);
  }

  // An element that is equal to the last one kept comes after it.
  void write_few(Int row, const Element* x) const {
    make_keys(scratch_, x, call_.size, call_.order);
    Some some;
    add(some, x, 0, kMostCounted);
    Int i = kMostCounted;
    for (;;) {
      if (some.size - call_.count > (kMostCounted - call_.count) / 2 || i == call_.size) {
        some.sort();
        some.size = call_.count;
      }
      if (i == call_.size) break;
      const Key last = some.keys[call_.count - 1];
      const Int end = i + smaller(kMostCounted - some.size, call_.size - i);
      for (; i < end; ++i) {
        some.keys[some.size] = scratch_[i];
        some.places[some.size] = static_cast<Key>(i);
        some.size += scratch_[i] < last ? 1 : 0;
      }
    }
    write(row, some.places);
  }

  // Returns all places in order.
  const Key* sort_by_bytes(const Element* x) const {
    constexpr unsigned kValues = 256;
    const Int size = call_.size;  // else it is read again after each number that is written
    Key* keys[] = {scratch_, scratch_ + 2 * size};
    Key* places[] = {keys[0] + size, keys[1] + size};
    make_keys(keys[0], x, size, call_.order);
    std::uint32_t start[sizeof(Key)][kValues] = {};
    for (Int i = 0; i < size; ++i) {
      keys[0][i] ^= kSmallestKey;  // as numbers without a sign, keys begin with it
      places[0][i] = static_cast<Key>(i);
      for (unsigned b = 0; b < sizeof(Key); ++b) ++start[b][byte_of(keys[0][i], b)];
    }
    int now = 0;  // which of the two hold the order by the bytes so far
    for (unsigned b = 0; b < sizeof(Key); ++b) {
      const Key* const from = keys[now];
      if (start[b][byte_of(from[0], b)] == size) continue;  // the same in all keys
      std::uint32_t sum = 0;
      for (std::uint32_t& one : start[b]) {
        const std::uint32_t count = one;
        one = sum;
        sum += count;
      }
      for (Int i = 0; i < size; ++i) {
        const std::uint32_t to = start[b][byte_of(from[i], b)]++;
        keys[1 - now][to] = from[i];
        places[1 - now][to] = places[now][i];
      }
      now = 1 - now;
    }
    return places[now];
  }

  static unsigned byte_of(Key key, unsigned b) {
    return static_cast<unsigned>(static_cast<Word>(key) >> (8 * b)) & 0xffU;
  }

  const TopKCall& call_;
  const Element* x_;
  Element* values_;
  std::int32_t* places_;
  Key* scratch_;
};

}  // namespace

extern "C" void TFAOT_KERNEL(top_k)(void* out, const void** in) {
  const auto& call = call_of<TopKCall>(in);
  const TopK top(call, out, in);
#if TFAOT_HAS_LANE_ROWS
  if (are_rows_together(call, kKeyLanes)) {
    for (Int i = 0; i < call.rows; i += kKeyLanes) {
      top.rows_in_lanes(smaller(i, call.rows - kKeyLanes));  // some rows may be done twice
    }
    return;
  }
#endif
  for (Int i = 0; i < call.rows; ++i) top.row(i);
}
