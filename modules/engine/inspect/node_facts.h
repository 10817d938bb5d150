// SPDX-License-Identifier: Apache-2.0
// Kind, work and cost of one instruction, for people. Used by one thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "compiler/cost/static_cost.h"
#include "compiler/hlo/hlo.h"
#include "tfaot/records/hlo_graph.h"
#include "xla/service/hlo_cost_analysis.h"

namespace tfaot::toolkit::engine {

struct FactsOptions {
  CodeSize code;
  // Large constants have their values: text leaves them out, and the reader makes some up.
  bool has_constants = true;
};

class NodeFacts {
 public:
  // The module must outlive it. XLA may add computations to it meanwhile.
  NodeFacts(const xla::HloModule& module, const FactsOptions& options);

  HloComputation describe(const xla::HloComputation& computation) const;

 private:
  HloNode describe(const xla::HloInstruction& one, const xla::HloCostAnalysis* analysis) const;

  bool has_constants_;
  std::map<const xla::HloInstruction*, double> costs_;
  std::map<const xla::HloInstruction*, std::int64_t> turns_;  // of loops, where XLA knows them
};

}  // namespace tfaot::toolkit::engine
