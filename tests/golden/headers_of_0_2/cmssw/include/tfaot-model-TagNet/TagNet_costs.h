// Made by tfaot from model TagNet, version 2024a. Do not edit.
// What a call of cms::models::TagNet costs, in picoseconds, as 'tfaot tune' measured it
// 0: not measured; a level with a 0 is run by the estimates that its code comes with.
#pragma once

#include <cstdint>

namespace cms::models {

struct TagNet_costs {
  static constexpr ::std::uint64_t kBs1_x86_64 = 0;
  static constexpr ::std::uint64_t kBs1_x86_64_v3 = 0;
  static constexpr ::std::uint64_t kBs8_x86_64 = 0;
  static constexpr ::std::uint64_t kBs8_x86_64_v3 = 0;
};

}  // namespace cms::models
