// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <vector>

// Two events of examples/minimal/reference.json.
inline const std::vector<float> kEvents = {1.921875f, -1.6875f, -0.859375f, -0.390625f,
                                           -1.09375f, 0.40625f, 1.578125f,  -1.421875f};

inline void print(const char* label, const std::vector<float>& y) {
  std::cout.precision(9);
  std::cout << label << " y:";
  for (const float value : y) std::cout << ' ' << value;
  std::cout << '\n';
}
