// SPDX-License-Identifier: Apache-2.0
// The numbers that a tile's inputs become, for a vector of channels.
#pragma once

#include "convolutions/winograd_transforms.h"
#include "simd/vec.h"

namespace {

// A vector of channels of a tile's inputs.
template <int kRows>
struct TileInputs {
  bool has_column(int c) const { return begin <= c && c < end; }

  const Element* const (&rows)[kRows];
  Int begin, end;  // of the columns that are in the image
  Int first;       // of the channels
  Int channels;    // of a pixel
  Int count;       // of the vector
};

// All numbers of a tile, `step` apart. Each input is read for every part that needs it, so that
// nothing else than sums is in registers.
template <int kRows, int kColumns>
TFAOT_INLINE void make_numbers_by_parts(const TileInputs<kRows>& inputs, Element* to, Int step) {
  for_each_part<kRows>([&](auto part) __attribute__((always_inline)) {
    constexpr int kPart = decltype(part)::kPart, kLines = kPartSize<kRows, kPart>;
    Floats lines[kColumns][kLines];
    Int at = inputs.first;
    const auto input = [&](int r) __attribute__((always_inline)) {
      return load_some(inputs.rows[r] + at, inputs.count);
    };
    TFAOT_UNROLL
    for (int c = 0; c < kColumns; ++c, go_on(at, inputs.channels)) {
      if (inputs.has_column(c)) {
        make_part<kRows, kPart>(input, lines[c]);
      } else {
        for (Floats& line : lines[c]) line = Floats{};
      }
    }
    TFAOT_UNROLL
    for (int line = 0; line < kLines; ++line) {
      const auto number = [&](int c) __attribute__((always_inline)) { return lines[c][line]; };
      for_each_part<kColumns>([&](auto of_line) __attribute__((always_inline)) {
        Floats made[kPartSize<kColumns, decltype(of_line)::kPart>];
        make_part<kColumns, decltype(of_line)::kPart>(number, made);
        for (const Floats& one : made) {
          store_some(to, one, inputs.count);
          go_on(to, step);
        }
      });
    }
  });
}

// The same with each input read once, for few registers.
template <int kRows, int kColumns>
TFAOT_INLINE void make_numbers_by_columns(const TileInputs<kRows>& inputs, Element* to, Int step) {
  Floats numbers[kColumns][kRows];
  for (int c = 0; c < kColumns; ++c) {
    if (!inputs.has_column(c)) {
      for (Floats& number : numbers[c]) number = Floats{};
      continue;
    }
    TFAOT_UNROLL
    for (int r = 0; r < kRows; ++r) {
      numbers[c][r] = load_some(inputs.rows[r] + c * inputs.channels + inputs.first, inputs.count);
    }
    transform_inputs(numbers[c]);
  }
  for (int r = 0; r < kRows; ++r) {
    Floats line[kColumns];
    TFAOT_UNROLL
    for (int c = 0; c < kColumns; ++c) line[c] = numbers[c][r];
    transform_inputs(line);
    TFAOT_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      store_some(to + (r * kColumns + c) * step, line[c], inputs.count);
    }
  }
}

}  // namespace
