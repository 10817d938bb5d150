// SPDX-License-Identifier: Apache-2.0
// tfaot_top_k of abi.h. An element becomes an integer, its key, so that smaller keys come
// first. Of few elements, the place of each is the number of those before it: vectors count them,
// without a branch that depends on values. Of many, those kept so far are a heap.
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

constexpr Int kMostCounted = 16 * kKeyLanes;  // above, a heap is faster

// before[i]: the number of elements that come before element i, of `size` ones. Equal ones stay in
// the row's order. There is room for whole vectors.
void count_before(Key* before, const Key* keys, Int size) {
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

// A key and, in the lower half, its place: they are in the order of the result.
__extension__ using Placed = std::conditional_t<TFAOT_IS_F32, std::int64_t, __int128>;
constexpr int kKeyBits = 8 * sizeof(Key);

// Moves `one` down from node `at` of a heap whose root is the last in order.
TFAOT_INLINE void sift(Placed* heap, Int size, Int at, Placed one) {
  for (Int child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && heap[child] < heap[child + 1]) ++child;
    if (heap[child] <= one) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = one;
}

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
    if (call_.size <= kMostCounted && 4 * call_.count > call_.size) {
      write_counted(row, x);
    } else {
      write_from_heap(row, x);
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

  void write_counted(Int row, const Element* x) const {
    Key keys[kMostCounted + kKeyLanes];
    Key before[kMostCounted + kKeyLanes];
    Key places[kMostCounted];
    make_keys(keys, x, call_.size, call_.order);
    count_before(before, keys, call_.size);
    for (Int i = 0; i < call_.size; ++i) places[before[i]] = static_cast<Key>(i);
    write(row, places);
  }

  void write_from_heap(Int row, const Element* x) const {
    const Int size = call_.size, count = call_.count;
    Key* const keys = scratch_;
    auto* const heap = reinterpret_cast<Placed*>(scratch_ + 2 * size);
    const auto placed = [&](Int i) { return Placed{keys[i]} * (Placed{1} << kKeyBits) | i; };
    make_keys(keys, x, size, call_.order);
    for (Int i = 0; i < count; ++i) heap[i] = placed(i);
    for (Int i = count / 2; i-- > 0;) sift(heap, count, i, heap[i]);
    for (Int i = count; i < size; ++i) {
      const Placed one = placed(i);
      if (one < heap[0]) sift(heap, count, 0, one);
    }
    for (Int last = count; --last > 0;) {
      const Placed one = heap[last];
      heap[last] = heap[0];
      sift(heap, last, 0, one);
    }
    for (Int i = 0; i < count; ++i) keys[i] = static_cast<Key>(heap[i] & ~Word{0});
    write(row, keys);
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
