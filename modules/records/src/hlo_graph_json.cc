// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/hlo_graph_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(DumpFacts, engine, batch_size, cpu_level, kernels, inputs, scratch_bytes, picoseconds,
              weights);

std::string hlo_graph_to_json(const HloGraph& graph) { return tagged_line("graph", graph); }

std::optional<HloGraph> hlo_graph_from_json(const std::string& line) {
  return from_tagged_line<HloGraph>("graph", line);
}

std::string dump_facts_to_json(const DumpFacts& facts) { return json_document(json_of(facts)); }

Result<DumpFacts> dump_facts_from_json(const std::string& text, const std::string& where) {
  return read_document<DumpFacts>(text, {where, "not the facts of a dump of this tfaot"});
}

}  // namespace tfaot::toolkit
