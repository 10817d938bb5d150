// Made by tfaot from model sized, version 1.0.0. Do not edit.
// What a call of tfaot_model::sized costs, in picoseconds, as 'tfaot tune' measured it
// 0: not measured; a level with a 0 is run by the estimates that its code comes with.
#pragma once

#include <cstdint>

namespace tfaot_model {

struct sized_costs {
  static constexpr ::std::uint64_t kBs1_x86_64 = 0;
  static constexpr ::std::uint64_t kBs1_x86_64_v3 = 0;
  static constexpr ::std::uint64_t kBs2_x86_64 = 0;
  static constexpr ::std::uint64_t kBs2_x86_64_v3 = 0;
  static constexpr ::std::uint64_t kBs4_x86_64 = 0;
  static constexpr ::std::uint64_t kBs4_x86_64_v3 = 0;
};

}  // namespace tfaot_model
