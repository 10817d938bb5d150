// SPDX-License-Identifier: Apache-2.0
// The key of an element: an integer, so that smaller keys come first in an order of selection.h.
#pragma once

#include "simd/kernel.h"

namespace {

using tfaot::kernels::TopKCall;

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

// Of an element, or of a vector of them: K is Key or Keys.
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

}  // namespace
