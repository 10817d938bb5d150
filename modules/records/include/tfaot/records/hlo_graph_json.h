// SPDX-License-Identifier: Apache-2.0
// The records of hlo_graph.h <-> JSON. Pure functions.
//   {"graph": {"stage": "simplified", "entry": "main.9", ...}}
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/hlo_graph.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(HloNode, name, opcode, kind, shape, operands, computations, origin, callee, detail,
              flops, bytes, picoseconds, turns);
TFAOT_MEMBERS(HloComputation, name, root, is_fused, is_applied, nodes);
TFAOT_MEMBERS(HloGraph, stage, entry, computations, text);
TFAOT_MEMBERS(WeightOrigin, name, shape, bytes, variables, operations);

// One line.
std::string hlo_graph_to_json(const HloGraph& graph);
// Nothing if the line is not such an object.
std::optional<HloGraph> hlo_graph_from_json(const std::string& line);

std::string dump_facts_to_json(const DumpFacts& facts);
// `where` names the file in errors.
Result<DumpFacts> dump_facts_from_json(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
