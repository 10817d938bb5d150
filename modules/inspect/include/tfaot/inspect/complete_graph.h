// SPDX-License-Identifier: Apache-2.0
// What one instruction alone does not say: flops and bytes of what runs other computations, and
// where instructions that XLA added come from. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit {

// Flops and bytes of loops (with all turns, kAssumedTurns if their number is not known), of calls
// and of branches (of the costliest one). An instruction with code that names no node of the model
// gets the origin of what it runs, else of an operand, else of a user.
void complete_graph(HloGraph& graph);

// How often a call of the program runs a computation.
struct Runs {
  double times = 0;
  bool is_assumed = false;    // by kAssumedTurns
  bool is_estimated = false;  // in the estimate of a call; not of a branch that costs less
};
// By name, of the entry and of what it runs; without what fusions and reductions hold.
std::map<std::string, Runs> runs_of(const HloGraph& graph);
// A number of an instruction for as many runs; -1, not known, stays.
std::int64_t repeated(std::int64_t number, double times);

}  // namespace tfaot::toolkit
