// Made by tfaot from model hostile, version 2.1-rc+1. Do not edit.
// What a call of tfaot_model::hostile costs, in picoseconds, as 'tfaot tune' measured it
// 0: not measured; a level with a 0 is run by the estimates that its code comes with.
#pragma once

#include <cstdint>

namespace tfaot_model {

struct hostile_costs {
  static constexpr ::std::uint64_t kBs1_x86_64 = 0;
};

}  // namespace tfaot_model
