// SPDX-License-Identifier: Apache-2.0
#include "inspect/read_hlo.h"

#include <memory>
#include <set>

#include "compiler/hlo/canonical.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/hlo.h"
#include "compiler/kernels/machine_model.h"
#include "inspect/node_facts.h"
#include "tfaot/base/limits.h"
#include "xla/service/hlo.pb.h"
#include "xla/service/hlo_parser.h"

namespace tfaot::toolkit::engine {
namespace {

// In place of the values of a large constant.
constexpr std::string_view kLeftOut = "{...}";

// Those that an instruction runs for each element.
std::set<const xla::HloComputation*> applied_computations(const xla::HloModule& module) {
  std::set<const xla::HloComputation*> applied;
  for (const auto* computation : module.computations()) {
    for (const auto* one : computation->instructions()) {
      const auto opcode = one->opcode();
      if (opcode == xla::HloOpcode::kWhile || opcode == xla::HloOpcode::kConditional ||
          opcode == xla::HloOpcode::kCall || opcode == xla::HloOpcode::kFusion) {
        continue;
      }
      for (const auto* called : one->called_computations()) applied.insert(called);
    }
  }
  return applied;
}

Result<HloGraph> graph_of(const FileSystem& fs, const HloFile& file, const CodeSize& code) {
  TFAOT_ASSIGN(const std::string contents, read_limited(fs, file.path, kDumpFileLimit));
  const bool is_proto = file.path.ends_with(".pb");
  TFAOT_ASSIGN(const auto module, parse_module(contents, is_proto));
  HloGraph graph;
  graph.stage = file.stage;
  graph.entry = module->entry_computation()->name();
  graph.text = hlo_text(*module);
  const auto applied = applied_computations(*module);
  // Before NodeFacts: estimating costs adds computations.
  const auto computations = module->MakeComputationPostOrder();
  const NodeFacts facts(*module, {code, is_proto || contents.find(kLeftOut) == std::string::npos});
  for (const auto* computation : computations) {
    graph.computations.push_back(facts.describe(*computation));
    graph.computations.back().is_applied = applied.contains(computation);
  }
  return graph;
}

}  // namespace

Result<std::unique_ptr<xla::HloModule>> parse_module(const std::string& contents, bool is_proto) {
  if (!is_proto) {
    auto module = xla::ParseAndReturnUnverifiedModule(contents, true);
    if (!module.ok()) return fail(error_of(module.status(), "XLA cannot read this HLO"));
    return std::move(*module);
  }
  xla::HloProto proto;
  if (!proto.ParseFromString(contents) || !proto.has_hlo_module()) {
    return fail(Error("not an HLO proto"));
  }
  return module_as_it_is(proto.hlo_module());
}

Status read_hlo(const FileSystem& fs, const HloQuestion& question,
                const std::function<void(const HloGraph&)>& say) {
  CodeSize code{question.inputs, question.scratch_bytes};
  if (!question.kernels.empty()) code.kernels = question.kernels;
  if (find_machine(code.kernels) == nullptr) {
    return fail(Error("there are no kernels '" + code.kernels + "'"));
  }
  for (const HloFile& file : question.files) {
    auto graph = graph_of(fs, file, code);
    if (!graph) return fail(std::move(graph).error().moved_to({file.path}));
    say(*graph);
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
