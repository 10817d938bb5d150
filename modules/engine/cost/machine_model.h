// SPDX-License-Identifier: Apache-2.0
// The machine that static_cost.h counts cycles of, where nobody has measured: a server core of the
// last ten years, by CPU level. Costs are only compared with each other, within one level, so the
// clock does not matter, and constants need to be right to some ten per cent. They come from the
// kernels' own sizes, from manuals where those of several makers agree, and from one fit to six
// nets on a Zen 5 (docs/measurements.md, "Costs that were not measured"). Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace tfaot::toolkit::engine {

// 4 GHz.
inline constexpr double kPicosecondsPerCycle = 250;
// Of a call of compiled code, with all that the runtime does for it.
inline constexpr double kRunCycles = 200;
// Of a call of a kernel, and of a loop that XLA makes.
inline constexpr double kCallCycles = 100;
inline constexpr double kLoopCycles = 20;

// Cycles of a vector of elements, by what is done to them: arithmetic; division and square roots;
// exponentials and the like. What moves elements one by one, or sums them up, counts by the
// element.
inline constexpr double kPlainCycles = 1;
inline constexpr double kSlowCycles = 8;
inline constexpr double kDearCycles = 16;
inline constexpr double kElementCycles = 0.5;
// A window that slides over a vector of channels, for each of its positions: pooling and depthwise.
inline constexpr double kSlideCycles = 2;

struct Machine {
  double vector_bytes;
  double sums;           // vectors that a tile of a product holds (kernels/own/tiles.h)
  double rows;           // of a tile
  double multiply_adds;  // of vectors, a cycle
};
// By the suffix of the kernels (JobLevel::kernels); what is not known is the lowest level.
const Machine& machine_of(const std::string& kernels);

struct ProductSize {
  std::int64_t rows, columns, depth, element_bytes;
};
// What the tiles take while all they read is in the first-level cache.
double product_cycles(const Machine& machine, const ProductSize& size);

// Cycles to read a byte of weights that were last read by the call before, when a call touches
// `footprint` bytes in all.
double weight_cycles(double footprint);
// Cycles that a byte of what a code hands from step to step waits, when all of it has `footprint`
// bytes: what prefetching does not hide.
double wait_cycles(double footprint);

}  // namespace tfaot::toolkit::engine
