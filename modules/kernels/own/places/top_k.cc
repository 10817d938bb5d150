// SPDX-License-Identifier: Apache-2.0
// tfaot_top_k of selection.h. An element becomes an integer, its key, so that smaller keys come
// first. Of few elements, the place of each is the number of those before it: vectors count them,
// without a branch that depends on values. A few of many elements are found by letting only those
// pass that come before the last one kept; otherwise the keys are sorted by their bytes.
#include "simd/kernel.h"
#include "simd/transpose.h"

namespace {

using tfaot::kernels::TopKCall;

// The key of an element: an integer, so that smaller keys come first in an order of selection.h.
#if TFAOT_IS_F32
using Key = std::int32_t;
using Bits = std::uint32_t;
constexpr Key kInfinity = 0x7f800000;
#else
using Key = std::int64_t;
using Bits = std::uint64_t;
constexpr Key kInfinity = 0x7ff0000000000000;
#endif
using Keys = Key __attribute__((vector_size(TFAOT_VECTOR_BYTES)));

constexpr Int kKeyLanes = kLanes<Element>;
constexpr Int kBits = 8 * sizeof(Key);
constexpr Key kLargestKey = static_cast<Key>(~Bits{0} >> 1);

TFAOT_INLINE Keys load_keys(const Key* from) {
  Keys keys;
  __builtin_memcpy(&keys, from, sizeof keys);
  return keys;
}

// The key of an element, or of a vector of them: K is Key or Keys.
template <bool kIsTotal, typename K, typename X>
TFAOT_INLINE K key_of(const X& x, Key flip) {
  K key;
  __builtin_memcpy(&key, &x, sizeof key);
  if constexpr (!kIsTotal) {
    const K magnitude = key & kLargestKey;
    key = magnitude > kInfinity ? K{} + kLargestKey : magnitude == 0 ? K{} : key;
  }
  return key ^ ((key >> (kBits - 1)) & kLargestKey) ^ flip;
}

template <bool kIsTotal>
TFAOT_INLINE void make_keys_of(Key* keys, const Element* x, Int count, Key flip) {
  for (Int i = 0; i < count; ++i) keys[i] = key_of<kIsTotal, Key>(x[i], flip);
}

TFAOT_INLINE Key flip_of(Int order) {
  return (order & tfaot::kernels::kTopKDescending) != 0 ? Key{-1} : Key{0};
}

void make_keys(Key* keys, const Element* x, Int count, Int order) {
  const Key flip = flip_of(order);
  if ((order & tfaot::kernels::kTopKTotalOrder) != 0) {
    make_keys_of<true>(keys, x, count, flip);
  } else {
    make_keys_of<false>(keys, x, count, flip);
  }
}

// The first elements of as many rows as a vector has lanes, each row in a lane: no step depends on
// values, and none goes across lanes. Only vectors of 32-bit integers have a minimum and maximum.
#define TFAOT_HAS_LANE_ROWS (TFAOT_IS_F32 && TFAOT_VECTOR_BYTES >= 32)
#if TFAOT_HAS_LANE_ROWS

using tfaot::kernels::kMostFirstTogether;

#if TFAOT_VECTOR_BYTES == 64
using Lanes = __mmask16;
TFAOT_INLINE Lanes is_before(Keys a, Keys b) {
  return _mm512_cmplt_epi32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
}
TFAOT_INLINE Keys either(Lanes lanes, Keys a, Keys b) {
  return reinterpret_cast<Keys>(
      _mm512_mask_mov_epi32(reinterpret_cast<__m512i>(b), lanes, reinterpret_cast<__m512i>(a)));
}
#else
using Lanes = Keys;
TFAOT_INLINE Lanes is_before(Keys a, Keys b) { return a < b; }
TFAOT_INLINE Keys either(Lanes lanes, Keys a, Keys b) { return lanes ? a : b; }
#endif
TFAOT_INLINE Keys first_of(Keys a, Keys b) { return a < b ? a : b; }
TFAOT_INLINE Keys last_of(Keys a, Keys b) { return a > b ? a : b; }

class FirstInLanes {
 public:
  explicit FirstInLanes(const TopKCall& call) : call_(call) {}

  void find(const Element* x) {
    if ((call_.order & tfaot::kernels::kTopKTotalOrder) != 0) {
      find_in<true>(x);
    } else {
      find_in<false>(x);
    }
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
    Lanes is_placed = {};
    for (Int i = 0; i < kept; ++i) {
      const Keys old_key = keys_[i], old_place = places_[i];
      const Lanes is_larger = is_before(key, old_key);
      keys_[i] = first_of(old_key, i == 0 ? key : last_of(key, last_key));
      places_[i] = either(is_placed, last_place, either(is_larger, own, old_place));
      is_placed = is_larger;
      last_key = old_key;
      last_place = old_place;
    }
    if (place >= call_.count) return;
    keys_[place] = kept == 0 ? key : last_of(key, last_key);
    places_[place] = either(is_placed, last_place, own);
  }

  const TopKCall& call_;
  Keys keys_[kMostFirstTogether];
  Keys places_[kMostFirstTogether];
};

#endif

constexpr Int kMostCounted = 12 * kKeyLanes;  // above, sorting by bytes is faster
constexpr Int kMostKept = kMostCounted / 3;   // of more elements than can be counted at once

// Adds one where a < b.
TFAOT_INLINE Keys count_less(Keys count, Keys a, Keys b) {
#if defined(__AVX512F__)
  const auto from = reinterpret_cast<__m512i>(count);
#if TFAOT_IS_F32
  const __mmask16 is_less =
      _mm512_cmplt_epi32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
  return reinterpret_cast<Keys>(_mm512_mask_add_epi32(from, is_less, from, _mm512_set1_epi32(1)));
#else
  const __mmask8 is_less =
      _mm512_cmplt_epi64_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
  return reinterpret_cast<Keys>(_mm512_mask_add_epi64(from, is_less, from, _mm512_set1_epi64(1)));
#endif
#else
  return count - (a < b);
#endif
}

// The same for keys of one vector, one of which is broadcast in `a`: equal keys in lanes after
// `lane` come after it.
TFAOT_INLINE Keys count_before_own(Keys count, Keys a, Keys own, Int lane) {
#if defined(__AVX512F__)
  const auto from = reinterpret_cast<__m512i>(count);
  const auto left = reinterpret_cast<__m512i>(a);
  const auto right = reinterpret_cast<__m512i>(own);
  const unsigned after = ~0U << (lane + 1);
#if TFAOT_IS_F32
  const auto is_after = static_cast<__mmask16>(after);
  const auto is_before =
      static_cast<__mmask16>(_mm512_mask_cmple_epi32_mask(is_after, left, right) |
                             _mm512_mask_cmplt_epi32_mask(~is_after, left, right));
  return reinterpret_cast<Keys>(_mm512_mask_add_epi32(from, is_before, from, _mm512_set1_epi32(1)));
#else
  const auto is_after = static_cast<__mmask8>(after);
  const auto is_before =
      static_cast<__mmask8>(_mm512_mask_cmple_epi64_mask(is_after, left, right) |
                            _mm512_mask_cmplt_epi64_mask(~is_after, left, right));
  return reinterpret_cast<Keys>(_mm512_mask_add_epi64(from, is_before, from, _mm512_set1_epi64(1)));
#endif
#else
  Keys lanes;
  for (int i = 0; i < kKeyLanes; ++i) lanes[i] = i;
  return count - ((a < own) | ((a == own) & (lanes > static_cast<Key>(lane))));
#endif
}

// Some elements of a row, equal ones in the row's order. There is room for whole vectors.
struct Some {
  Key keys[kMostCounted + kKeyLanes];
  Key places[kMostCounted + kKeyLanes];
  Int size;

  Some() : size(0) {}  // the arrays stay as they are
  void sort();
  // before[i]: the number of elements that come before element i.
  void count_before(Key* before) const;
};

void Some::count_before(Key* before) const {
  for (Int begin = 0; begin < size; begin += kKeyLanes) {
    const Keys own = load_keys(keys + begin);
    const Int end = smaller(begin + kKeyLanes, size);
    Keys count = {};
    Keys more = {};
    for (Int j = 0; j < begin; ++j) more = count_less(more, own, Keys{} + keys[j]);
    count = count + static_cast<Key>(begin) - more;  // those before it that are not larger
    for (Int j = begin; j < end; ++j) {
      count = count_before_own(count, Keys{} + keys[j], own, j - begin);
    }
    for (Int j = end; j < size; ++j) count = count_less(count, Keys{} + keys[j], own);
    __builtin_memcpy(before + begin, &count, sizeof count);
  }
}

void Some::sort() {
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

class TopK {
 public:
  TopK(const TopKCall& call, const Element* x, void* const* out)
      : call_(call),
        x_(x),
        values_(static_cast<Element*>(out[0])),
        places_(static_cast<std::int32_t*>(out[1])),
        scratch_(static_cast<Key*>(out[2])) {}

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
    for (Int i = 0; i < call_.count; ++i) {
      values_[row * call_.count + i] = x[places[i]];
      places_[row * call_.count + i] = static_cast<std::int32_t>(places[i]);
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
    constexpr Key kSign = -kLargestKey - 1;  // as numbers without a sign, keys begin with it
    constexpr unsigned kValues = 256;
    Key* keys = scratch_;
    Key* places = keys + call_.size;
    Key* next_keys = places + call_.size;
    Key* next_places = next_keys + call_.size;
    make_keys(keys, x, call_.size, call_.order);
    std::uint32_t start[sizeof(Key)][kValues] = {};
    for (Int i = 0; i < call_.size; ++i) {
      keys[i] ^= kSign;
      places[i] = static_cast<Key>(i);
      for (unsigned b = 0; b < sizeof(Key); ++b) ++start[b][byte_of(keys[i], b)];
    }
    for (unsigned b = 0; b < sizeof(Key); ++b) {
      if (start[b][byte_of(keys[0], b)] == call_.size) continue;  // the same in all keys
      std::uint32_t sum = 0;
      for (std::uint32_t& one : start[b]) {
        const std::uint32_t count = one;
        one = sum;
        sum += count;
      }
      for (Int i = 0; i < call_.size; ++i) {
        const std::uint32_t to = start[b][byte_of(keys[i], b)]++;
        next_keys[to] = keys[i];
        next_places[to] = places[i];
      }
      swap(keys, next_keys);
      swap(places, next_places);
    }
    return places;
  }

  static unsigned byte_of(Key key, unsigned b) {
    return static_cast<unsigned>(static_cast<Bits>(key) >> (8 * b)) & 0xffU;
  }
  static void swap(Key*& a, Key*& b) {
    Key* const old = a;
    a = b;
    b = old;
  }

  const TopKCall& call_;
  const Element* x_;
  Element* values_;
  std::int32_t* places_;
  Key* scratch_;
};

}  // namespace

extern "C" void TFAOT_KERNEL(top_k)(void* out, const void** in) {
  const auto& call = *static_cast<const TopKCall*>(in[0]);
  const TopK top(call, static_cast<const Element*>(in[1]), static_cast<void* const*>(out));
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
