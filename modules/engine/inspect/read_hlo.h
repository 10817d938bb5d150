// SPDX-License-Identifier: Apache-2.0
// Files of HLO as graphs, and for developers `tfaot-engine --run-pass NAME FILE [INPUTS]`, which
// runs one pass of the optimizer. Compiles nothing. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "compiler/cost/static_cost.h"
#include "compiler/hlo/hlo.h"
#include "tfaot/base/file_system.h"
#include "tfaot/records/hlo_graph.h"
#include "xla/service/hlo_cost_analysis.h"

namespace tfaot::toolkit::engine {

struct FactsOptions {
  CodeSize code;
  // True if large constants have their values. Text omits them, and the parser invents some.
  bool has_constants = true;
};

// Kind, work and cost of one instruction, for people.
class NodeFacts {
 public:
  // The module must outlive it. XLA may add computations to it meanwhile.
  NodeFacts(const xla::HloModule& module, const FactsOptions& options);

  HloComputation describe(const xla::HloComputation& computation) const;

 private:
  HloNode describe(const HloInstruction& one, const xla::HloCostAnalysis* analysis) const;

  bool has_constants_;
  std::map<const HloInstruction*, double> costs_;
  std::map<const HloInstruction*, std::int64_t> turns_;  // of loops, where XLA knows them
};

// `contents` of a file: a proto, or text.
Result<std::unique_ptr<xla::HloModule>> parse_module(const std::string& contents, bool is_proto);

// Calls `say` for each file, in order.
Status read_hlo(const FileSystem& fs, const HloQuestion& question,
                const std::function<void(const HloGraph&)>& say);

inline constexpr const char* kRunPassOption = "--run-pass";

struct PassQuestion {
  std::string pass;  // Pass::name
  std::string file;  // HLO: a proto if its name ends in ".pb", otherwise text
  // How many parameters of the entry computation are inputs, the others are weights; empty: all.
  std::string inputs = {};
};

// The text of the module after the pass. Errors name all passes, or the file.
Result<std::string> run_pass(const FileSystem& fs, const PassQuestion& question);

}  // namespace tfaot::toolkit::engine
