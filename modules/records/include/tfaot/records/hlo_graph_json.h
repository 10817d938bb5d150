// SPDX-License-Identifier: Apache-2.0
// The records of hlo_graph.h <-> JSON. Pure functions.
//   {"graph": {"stage": "simplified", "entry": "main.9", ...}}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit {

// One line.
std::string hlo_graph_to_json(const HloGraph& graph);
// Nothing if the line is not such an object.
std::optional<HloGraph> hlo_graph_from_json(const std::string& line);

// For people's programs, with keys in the order of the members.
nlohmann::ordered_json computations_to_json(const std::vector<HloComputation>& computations);
nlohmann::ordered_json weights_to_json(const std::vector<WeightOrigin>& weights);

std::string dump_facts_to_json(const DumpFacts& facts);
// `where` names the file in errors.
Result<DumpFacts> dump_facts_from_json(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
