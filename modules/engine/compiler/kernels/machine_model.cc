// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/machine_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tfaot/kernels/levels.def"

namespace tfaot::toolkit::engine {
namespace {

// Loads per cycle, the same for all makers.
constexpr double kLoads = 2;
// The start and end of a tile: its sums are loaded, added up and stored.
constexpr double kTileCycles = 30;
// Sums of each result of a tile, and its most vectors of columns
// (kernels/own/products/microkernel.h).
constexpr double kSums = 2;
constexpr double kMostVectors = 4;
// Rows of a product that are multiplied with the right side at once (kernels/own/products/gemm.cc).
constexpr double kBlockRows = 480;

struct Cache {
  double bytes;  // of one core; of the third level: what one core may use of it
  double weight, wait;
};
// Servers have had 32 to 48 kB, 1 to 2 MB and 16 to 32 MB since 2017.
constexpr std::array<Cache, 4> kCaches = {{
    {48.0 * 1024, 1.0 / 128, 0},
    {1024.0 * 1024, 1.0 / 48, 0},
    {16 * 1024.0 * 1024, 1.0 / 24, 0.015},
    {std::numeric_limits<double>::infinity(), 1.0 / 6, 0.08},
}};

// If bytes are read again and again in the same order, more of them are evicted than do not fit:
// this many times more.
constexpr double kLost = 3;

double mean(double footprint, double Cache::*cost) {
  const auto next =
      std::ranges::find_if(kCaches, [&](const Cache& cache) { return footprint <= cache.bytes; });
  if (next == kCaches.begin()) return (*next).*cost;
  const Cache& full = *std::prev(next);
  const double share = std::min(1.0, kLost * (footprint - full.bytes) / footprint);
  return share * (*next).*cost + (1 - share) * full.*cost;
}

}  // namespace

const Machine* find_machine(std::string_view kernels) {
#define TFAOT_NO_ROW(...)
#define TFAOT_MACHINE(x, name, suffix, options, tuning, vector_bytes, sums, rows, multiply_adds, \
                      ...)                                                                       \
  {#suffix, {vector_bytes, sums, rows, multiply_adds}},
  static constexpr std::pair<std::string_view, Machine> kMachines[] = {TFAOT_LEVELS_OF_x86_64(
      TFAOT_MACHINE, TFAOT_NO_ROW, ) TFAOT_LEVELS_OF_aarch64(TFAOT_MACHINE, TFAOT_NO_ROW, )};
#undef TFAOT_MACHINE
#undef TFAOT_NO_ROW
  const auto* const found =
      std::ranges::find(kMachines, kernels, &std::pair<std::string_view, Machine>::first);
  return found == std::end(kMachines) ? nullptr : &found->second;
}

const Machine& machine_of(std::string_view kernels) { return *find_machine(kernels); }

double product_cycles(const Machine& machine, const ProductSize& size) {
  const auto rows = static_cast<double>(size.rows);
  const auto depth = static_cast<double>(size.depth);
  const double vectors =
      std::ceil(static_cast<double>(size.columns * size.element_bytes) / machine.vector_bytes);
  const double tiles = std::ceil(rows / machine.rows);  // of rows
  const double tile_rows = rows / tiles;
  const double columns =
      std::ceil(vectors / std::clamp(std::floor(machine.sums / kSums / tile_rows), 1.0,
                                     kMostVectors));  // of tiles
  const double multiply = rows * vectors / machine.multiply_adds;
  const double load = (rows * columns + tiles * vectors) / kLoads;
  return depth * std::max(multiply, load) + tiles * columns * kTileCycles;
}

double weight_cycles(double footprint) { return mean(footprint, &Cache::weight); }

double wait_cycles(double footprint) { return mean(footprint, &Cache::wait); }

// Multiplying and reading weights overlap, but not fully: a sum of cubes is between the sum and the
// maximum, and close to measurements.
double ProgramSpeed::multiply(const ProductSize& size, double weights) const {
  const double passes = std::ceil(static_cast<double>(size.rows) / kBlockRows);
  return std::cbrt(std::pow(product_cycles(machine_, size), 3) +
                   std::pow(weights * passes * weight_cycles_, 3));
}

}  // namespace tfaot::toolkit::engine
