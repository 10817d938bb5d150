// SPDX-License-Identifier: Apache-2.0
// AMX: eight tiles of up to 16 rows of 64 bytes, and products of them (Intel's Architecture
// Instruction Set Extensions Programming Reference, "Intel AMX instructions"). A test defines
// TFAOT_EMULATED_TILES and has the same functions in plain C++, and so runs the same products on
// machines without them.
#pragma once

#include "simd/kernel.h"

namespace {

constexpr Int kTileRows = 16, kTileWords = 16;  // words of 32 bits in a row

// What ldtilecfg reads.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, unused[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  void set(int tile, Int row_count, Int words) {
    rows[tile] = static_cast<std::uint8_t>(row_count);
    row_bytes[tile] = static_cast<std::uint16_t>(words * 4);
  }
};

#if !defined(TFAOT_EMULATED_TILES)

TFAOT_INLINE void configure_tiles(const TileShapes& shapes) {
  asm volatile("ldtilecfg %0" : : "m"(shapes));
}
TFAOT_INLINE void release_tiles() { asm volatile("tilerelease"); }

template <int kTile>
TFAOT_INLINE void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
TFAOT_INLINE void load_tile(const void* from, Int step) {
  asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(from), "r"(step) : "memory");
}
template <int kTile>
TFAOT_INLINE void store_tile(void* to, Int step) {
  asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(kTile), "r"(to), "r"(step) : "memory");
}
// Adds products of words: of four bytes, those of A without a sign, or of two bfloat16.
template <int kSum, int kA, int kB>
TFAOT_INLINE void add_tile_products(std::int32_t /*sum*/) {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
}
template <int kSum, int kA, int kB>
TFAOT_INLINE void add_tile_products(float /*sum*/) {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
}

#endif

}  // namespace
