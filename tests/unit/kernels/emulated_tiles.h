// SPDX-License-Identifier: Apache-2.0
// The functions of products/tiles.h in plain C++, for machines without AMX.
#pragma once

#include "products/tiles.h"

namespace {

struct EmulatedTiles {
  TileShapes shapes;
  unsigned char bytes[8][kTileRows][64];
};
thread_local EmulatedTiles emulated_tiles;

template <typename T>
T& number_of_tile(int tile, Int row, Int i) {
  return reinterpret_cast<T*>(emulated_tiles.bytes[tile][row])[i];
}

inline void configure_tiles(const TileShapes& shapes) {
  emulated_tiles.shapes = shapes;
  __builtin_memset(emulated_tiles.bytes, 0, sizeof emulated_tiles.bytes);
}
inline void release_tiles() { emulated_tiles = {}; }

template <int kTile>
void clear_tile() {
  __builtin_memset(emulated_tiles.bytes[kTile], 0, sizeof emulated_tiles.bytes[kTile]);
}
template <int kTile>
void load_tile(const void* from, Int step) {
  clear_tile<kTile>();
  for (Int r = 0; r < emulated_tiles.shapes.rows[kTile]; ++r) {
    __builtin_memcpy(emulated_tiles.bytes[kTile][r], static_cast<const char*>(from) + r * step,
                     emulated_tiles.shapes.row_bytes[kTile]);
  }
}
template <int kTile>
void store_tile(void* to, Int step) {
  for (Int r = 0; r < emulated_tiles.shapes.rows[kTile]; ++r) {
    __builtin_memcpy(static_cast<char*>(to) + r * step, emulated_tiles.bytes[kTile][r],
                     emulated_tiles.shapes.row_bytes[kTile]);
  }
}

// Calls add(row, column, word) for what a product reads; shapes that do not fit are a fault.
template <int kSum, int kA, int kB, typename Add>
void for_tile_words(const Add& add) {
  const TileShapes& s = emulated_tiles.shapes;
  if (s.palette != 1 || s.rows[kSum] != s.rows[kA] || s.row_bytes[kSum] != s.row_bytes[kB] ||
      s.row_bytes[kA] != 4 * s.rows[kB]) {
    __builtin_trap();
  }
  for (Int r = 0; r < s.rows[kSum]; ++r) {
    for (Int word = 0; word < s.rows[kB]; ++word) {
      for (Int c = 0; c < s.row_bytes[kSum] / 4; ++c) add(r, c, word);
    }
  }
}

template <int kSum, int kA, int kB>
void add_tile_products(std::int32_t /*sum*/) {
  for_tile_words<kSum, kA, kB>([](Int r, Int c, Int word) {
    for (Int i = 0; i < 4; ++i) {
      number_of_tile<std::int32_t>(kSum, r, c) +=
          number_of_tile<std::uint8_t>(kA, r, 4 * word + i) *
          number_of_tile<std::int8_t>(kB, word, 4 * c + i);
    }
  });
}

// Even and odd numbers of the words are added apart, from zero on, and their sums to the tile.
template <int kSum, int kA, int kB>
void add_tile_products(float /*sum*/) {
  static thread_local float sums[kTileRows][kTileWords][2];
  __builtin_memset(sums, 0, sizeof sums);
  for_tile_words<kSum, kA, kB>([](Int r, Int c, Int word) {
    for (Int i = 0; i < 2; ++i) {
      const auto wide = [](std::uint16_t half) {
        const std::uint32_t bits = std::uint32_t{half} << 16;
        return read_as<float>(&bits);
      };
      float& sum = sums[r][c][i];
      sum = __builtin_fmaf(wide(number_of_tile<std::uint16_t>(kA, r, 2 * word + i)),
                           wide(number_of_tile<std::uint16_t>(kB, word, 2 * c + i)), sum);
    }
  });
  for (Int r = 0; r < kTileRows; ++r) {
    for (Int c = 0; c < kTileWords; ++c) {
      number_of_tile<float>(kSum, r, c) += sums[r][c][0] + sums[r][c][1];
    }
  }
}

}  // namespace
