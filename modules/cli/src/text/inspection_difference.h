// SPDX-License-Identifier: Apache-2.0
// Two programs that `tfaot inspect` looked at -> what differs in their sizes, instructions, kernels
// and layers. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tfaot/workflow/inspect_code.h"

namespace tfaot::toolkit {

enum class ComparedKind { kWhole, kInstruction, kLayer };
template <>
inline constexpr auto kWords<ComparedKind> = std::to_array<Word<ComparedKind>>({
    {ComparedKind::kWhole, "program"},
    {ComparedKind::kInstruction, "instruction"},
    {ComparedKind::kLayer, "layer"},
});

// A value that differs. Of an instruction: how many there are; of a layer: its estimated
// picoseconds.
struct ComparedValue {
  ComparedKind kind = ComparedKind::kWhole;
  std::string what;  // "code bytes", "matmul_f32_x86_64_v3", "model/dense_1"
  std::string first;
  std::string second;
};

std::vector<ComparedValue> compare_code(const InspectedCode& first, const InspectedCode& second);

// In every byte of the object.
bool is_same_code(const InspectedCode& first, const InspectedCode& second);

// "tagger 1.0.0, batch size 4, x86-64-v3"
std::string program_title(const InspectedCode& code);

std::string comparison_text(const InspectedCode& first, const InspectedCode& second);
// `path`: as the user wrote it.
struct ComparedProgram {
  const InspectedCode& code;
  const std::string& path;
};
nlohmann::ordered_json comparison_to_json(const ComparedProgram& first,
                                          const ComparedProgram& second);

}  // namespace tfaot::toolkit
