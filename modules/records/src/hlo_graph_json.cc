// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/hlo_graph_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(DumpFacts, engine, batch_size, cpu_level, kernels, inputs, scratch_bytes, picoseconds,
              weights);
TFAOT_MEMBERS(HloFile, path, stage);
TFAOT_MEMBERS(HloQuestion, files, kernels, inputs, scratch_bytes);

std::string hlo_graph_to_json(const HloGraph& graph) { return tagged_line("graph", graph); }

std::optional<HloGraph> hlo_graph_from_json(const std::string& line) {
  return from_tagged_line<HloGraph>("graph", line);
}

std::string hlo_question_to_json(const HloQuestion& question) {
  return json_document(json_of(question));
}

Result<HloQuestion> hlo_question_from_json(const std::string& text) {
  return read_document<HloQuestion>(text, {"", "not a question about HLO"});
}

std::string dump_facts_to_json(const DumpFacts& facts) { return json_document(json_of(facts)); }

Result<DumpFacts> dump_facts_from_json(const std::string& text, const std::string& where) {
  return read_document<DumpFacts>(text, {where, "not the facts of a dump of this tfaot"});
}

}  // namespace tfaot::toolkit
