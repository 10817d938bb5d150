// SPDX-License-Identifier: Apache-2.0
// What `tfaot inspect` found -> the text and the JSON that it prints. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/describe.h"
#include "tfaot/inspect/graph_summary.h"
#include "tfaot/workflow/inspect_code.h"

namespace tfaot::toolkit {

// `path`: as the user wrote it.
std::string inspection_text(const InspectedCode& code, const std::string& path);
nlohmann::ordered_json inspection_to_json(const InspectedCode& code, const std::string& path);

// Sizes and times in a few lines.
std::vector<Fact> inspection_facts(const InspectedCode& code);

// "12.345 µs", "345 ns"; "-" for a negative number.
std::string duration_text(std::int64_t picoseconds);
// "12.3 M"; "-" for a negative number.
std::string count_text(std::int64_t number);
// Whether anything runs another number of times than once.
bool runs_vary(const std::vector<CodeNode>& nodes);
// "5"; "~16" if the number is assumed.
std::string runs_text(const Runs& runs);
// What "~" means; empty if none is assumed.
std::string assumed_runs_note(const std::vector<CodeNode>& nodes);
// "transpose, reshape of dense/kernel, dense/bias"; empty if nothing is known.
std::string made_of(const WeightOrigin& weight);
// What a flag for the compiler changes.
std::string effect_text(const FlagEffect& effect, const InspectedCode& with);

// The last stage: what code is made of. Null if no stage is known.
const HloGraph* last_stage(const InspectedCode& code);
// "matmul_f32_x86_64_v3" for one of our kernels, the opcode or the function otherwise.
std::string node_title(const HloNode& node);
// What a kernel call multiplies, the shape of its result otherwise.
std::string node_sizes(const HloNode& node);

}  // namespace tfaot::toolkit
