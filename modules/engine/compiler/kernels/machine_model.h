// SPDX-License-Identifier: Apache-2.0
// The machine for which static_cost.h counts cycles if nobody has measured: a server core of the
// last ten years, by CPU level. Costs are only compared with each other within one level, so the
// clock does not matter, and constants need to be right only to some ten per cent. They come from
// the kernels' own sizes, from manuals if those of several makers agree, and from one fit to six
// nets on a Zen 5 (docs/measurements.md, "Costs that were not measured"). Pure functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace tfaot::toolkit::engine {

// 4 GHz.
inline constexpr double kPicosecondsPerCycle = 250;
// Picoseconds: eleven days. Loops in loops may have more turns than a number of 64 bits holds.
inline constexpr double kLongestCall = 1e18;
// For a call of compiled code, with the runtime's work for it.
inline constexpr double kRunCycles = 200;
// For a call of a kernel, or a loop that XLA makes.
inline constexpr double kCallCycles = 100;
inline constexpr double kLoopCycles = 20;

// A layer of a chain costs a call, too, if its weights are larger than this.
inline constexpr double kSmallLayerBytes = 20 * 1024;

// Cycles per vector of elements, by operation: arithmetic; division and square roots; exponentials
// and the like. Operations that move elements one by one, or sum them up, count per element.
inline constexpr double kPlainCycles = 1;
inline constexpr double kSlowCycles = 8;
inline constexpr double kDearCycles = 16;
inline constexpr double kElementCycles = 0.5;
// A window that slides over a vector of channels, for each position: pooling and depthwise.
inline constexpr double kSlideCycles = 2;
// A multiplication and an addition of a product that XLA computes: of a vector, or in a
// convolution; of matrices.
inline constexpr double kXlaMultiplyCycles = 2;
inline constexpr double kXlaMatrixCycles = 16;
// A step of one row through one tree.
inline constexpr double kTreeStepCycles = 2.5;
// Finding the order of a row: an element compared with a vector of others; a byte of it that is
// sorted.
inline constexpr double kMeetCycles = 1.3;
inline constexpr double kSortByteCycles = 4;
// A vector of elements, each of another row; and each of the first ones that they meet.
inline constexpr double kLaneCycles = 14;
inline constexpr double kFirstCycles = 2.5;

// The numbers of levels.def.
struct Machine {
  double vector_bytes;
  double sums;  // vectors that a tile of a product holds (kernels/own/products/microkernel.h)
  double rows;  // of a tile
  double multiply_adds;  // of vectors, a cycle
};
// By the suffix of the kernels (JobLevel::kernels); null: no level has it.
const Machine* find_machine(std::string_view kernels);
// REQUIRES: a level has this suffix.
const Machine& machine_of(std::string_view kernels);

struct ProductSize {
  std::int64_t rows, columns, depth, element_bytes;
};
// The time of the tiles if everything they read is in the first-level cache.
double product_cycles(const Machine& machine, const ProductSize& size);

// Cycles to read a byte of weights that the call before read last, if a call touches `footprint`
// bytes in all.
double weight_cycles(double footprint);
// Cycles of waiting per byte that code passes from step to step, if all of these bytes are
// `footprint`: the part that prefetching does not hide.
double wait_cycles(double footprint);

// A machine whose caches hold the data of one program.
class ProgramSpeed {
 public:
  // `footprint`: bytes that a call touches, without its weights.
  ProgramSpeed(const Machine& machine, double footprint, double weights)
      : machine_(machine),
        weight_cycles_(engine::weight_cycles(footprint + weights)),
        wait_cycles_(engine::wait_cycles(footprint)) {}

  const Machine& machine() const { return machine_; }
  double weight_cycles() const { return weight_cycles_; }              // to read a byte of weights
  double waiting(double bytes) const { return bytes * wait_cycles_; }  // for other data
  // Vectors that hold this many bytes.
  double vectors(double bytes) const { return std::ceil(bytes / machine_.vector_bytes); }
  // A product, with reading its right side of `weights` bytes.
  double multiply(const ProductSize& size, double weights) const;
  // A window that slides over each channel by itself, for `result` bytes.
  double slide(double taps, double result) const { return vectors(result) * taps * kSlideCycles; }

 private:
  const Machine& machine_;
  double weight_cycles_;
  double wait_cycles_;
};

}  // namespace tfaot::toolkit::engine
