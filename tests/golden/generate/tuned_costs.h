// Made by tfaot from model net, version 2. Do not edit.
// What a call of a::b::net costs, in picoseconds, as 'tfaot tune' measured it on
//   A CPU\. #error
// 0: not measured; a level with a 0 is run by the estimates that its code comes with.
#pragma once

#include <cstdint>

namespace a::b {

struct net_costs {
  static constexpr ::std::uint64_t kBs1_x86_64 = 812346;
  static constexpr ::std::uint64_t kBs1_x86_64_v3 = 0;
  static constexpr ::std::uint64_t kBs16_x86_64 = 0;
  static constexpr ::std::uint64_t kBs16_x86_64_v3 = 1;
};

}  // namespace a::b
