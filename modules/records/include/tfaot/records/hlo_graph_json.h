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

template <>
inline constexpr auto kMembers<HloNode> = std::tuple{
    Member{"name", &HloNode::name},         Member{"opcode", &HloNode::opcode},
    Member{"kind", &HloNode::kind},         Member{"shape", &HloNode::shape},
    Member{"operands", &HloNode::operands}, Member{"computations", &HloNode::computations},
    Member{"origin", &HloNode::origin},     Member{"callee", &HloNode::callee},
    Member{"detail", &HloNode::detail},     Member{"flops", &HloNode::flops},
    Member{"bytes", &HloNode::bytes},       Member{"picoseconds", &HloNode::picoseconds},
    Member{"turns", &HloNode::turns}};
template <>
inline constexpr auto kMembers<HloComputation> = std::tuple{
    Member{"name", &HloComputation::name}, Member{"root", &HloComputation::root},
    Member{"is_fused", &HloComputation::is_fused},
    Member{"is_applied", &HloComputation::is_applied}, Member{"nodes", &HloComputation::nodes}};
template <>
inline constexpr auto kMembers<HloGraph> =
    std::tuple{Member{"stage", &HloGraph::stage}, Member{"entry", &HloGraph::entry},
               Member{"computations", &HloGraph::computations}, Member{"text", &HloGraph::text}};
template <>
inline constexpr auto kMembers<WeightOrigin> =
    std::tuple{Member{"name", &WeightOrigin::name}, Member{"shape", &WeightOrigin::shape},
               Member{"bytes", &WeightOrigin::bytes}, Member{"variables", &WeightOrigin::variables},
               Member{"operations", &WeightOrigin::operations}};

// One line.
std::string hlo_graph_to_json(const HloGraph& graph);
// Nothing if the line is not such an object.
std::optional<HloGraph> hlo_graph_from_json(const std::string& line);

std::string hlo_question_to_json(const HloQuestion& question);
Result<HloQuestion> hlo_question_from_json(const std::string& text);

std::string dump_facts_to_json(const DumpFacts& facts);
// `where` names the file in errors.
Result<DumpFacts> dump_facts_from_json(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
