// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/hlo_graph_json.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(HloNode, name, opcode, kind, shape, operands, computations, origin, callee, detail,
              flops, bytes, picoseconds, turns);
TFAOT_MEMBERS(HloComputation, name, root, is_fused, is_applied, nodes);
TFAOT_MEMBERS(HloGraph, stage, entry, computations, text);
TFAOT_MEMBERS(WeightOrigin, name, shape, bytes, variables, operations);
TFAOT_MEMBERS(DumpFacts, engine, batch_size, cpu_level, kernels, inputs, scratch_bytes, picoseconds,
              weights);

std::string hlo_graph_to_json(const HloGraph& graph) { return tagged_line("graph", graph); }

std::optional<HloGraph> hlo_graph_from_json(const std::string& line) {
  return from_tagged_line<HloGraph>("graph", line);
}

nlohmann::ordered_json computations_to_json(const std::vector<HloComputation>& computations) {
  return json_of(computations);
}

nlohmann::ordered_json weights_to_json(const std::vector<WeightOrigin>& weights) {
  return json_of(weights);
}

std::string dump_facts_to_json(const DumpFacts& facts) { return json_document(json_of(facts)); }

Result<DumpFacts> dump_facts_from_json(const std::string& text, const std::string& where) {
  return read_document<DumpFacts>(text, {where, "not the facts of a dump of this tfaot"});
}

}  // namespace tfaot::toolkit
