// SPDX-License-Identifier: Apache-2.0
// The fixed inputs of this example, from the models' reference.json, and how results are printed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>

namespace example {

// One jet of ten constituents with six features each.
inline constexpr std::size_t kJets = 1;
inline constexpr std::array<std::int32_t, kJets> kCategory = {2};
inline constexpr std::array<bool, 10> kMask = {true, true, false, false, false,
                                               true, true, true,  false, false};
inline constexpr std::array<float, 60> kConstituents = {
    0.09375f,   1.5625f,    1.984375f,  0.234375f,  -0.796875f, 1.203125f,   //
    -1.09375f,  1.828125f,  1.578125f,  -1.765625f, -1.75f,     -1.0625f,    //
    -1.0f,      1.15625f,   -0.984375f, -2.0f,      -1.859375f, 0.90625f,    //
    1.828125f,  0.484375f,  -0.015625f, -1.984375f, 1.84375f,   -1.578125f,  //
    -1.796875f, -1.484375f, -1.109375f, 1.046875f,  -1.96875f,  1.84375f,    //
    -1.703125f, -1.5f,      -0.140625f, 0.3125f,    0.84375f,   -0.75f,      //
    -0.484375f, -1.875f,    0.546875f,  -0.671875f, 1.0f,       -0.953125f,  //
    -1.09375f,  0.8125f,    -0.09375f,  -0.265625f, 1.484375f,  -1.359375f,  //
    -1.046875f, 1.328125f,  0.4375f,    -0.296875f, 0.5625f,    -1.078125f,  //
    -0.4375f,   -0.984375f, 0.375f,     -0.625f,    1.171875f,  0.4375f};

// Three energies; the batch sizes compiled are 1, 2 and 8.
inline constexpr std::size_t kHits = 3;
inline constexpr std::array<std::int64_t, kHits> kCell = {10, 8, 3};
inline constexpr std::array<double, kHits> kEnergy = {0.015625, 1.59375, 1.828125};

// "<label> <output>: <numbers>"
template <class Values>
void print(const char* label, const char* output, const Values& values) {
  std::cout.precision(17);
  std::cout << label << ' ' << output << ':';
  for (const auto value : values) std::cout << ' ' << value;
  std::cout << '\n';
}

void predict_native();
void predict_compatible();

}  // namespace example
