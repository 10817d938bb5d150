// SPDX-License-Identifier: Apache-2.0
#include "text/inspection_difference.h"

#include <fmt/format.h>

#include <map>

#include "text/inspection_report.h"
#include "text/text_table.h"
#include "tfaot/base/printable.h"
#include "tfaot/inspect/graph_summary.h"

namespace tfaot::toolkit {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

std::string numbered(std::uint64_t number) { return number == 0 ? "" : std::to_string(number); }

// Of numbers that need graphs, if both programs have them.
enum class Known { kSizes, kGraphs };

Values whole_values(const InspectedCode& code, Known known) {
  std::uint64_t weights = 0;
  for (const WeightOrigin& weight : code.weights) weights += weight.bytes;
  const auto call = static_cast<std::int64_t>(code.picoseconds);
  Values values = {
      {"code bytes", numbered(code.code_bytes)},
      {"bytes of temporaries", numbered(bytes_of(code.buffers, BufferUse::kTemporary))},
      {"most of them in use", numbered(peak_of(code.buffers, BufferUse::kTemporary).bytes)},
      {"bytes of weights", numbered(weights)},
      {"estimated time of a call", call == 0 ? "" : duration_text(call)},
      {"estimated time of a row", call == 0 ? "" : duration_text(call / code.batch_size)}};
  if (const HloGraph* const stage = last_stage(code); known == Known::kGraphs) {
    const StageSummary summary = summary_of(*stage);
    values.emplace_back("instructions", std::to_string(summary.instructions));
    values.emplace_back("flops", std::to_string(summary.flops));
    values.emplace_back("bytes read and written", std::to_string(summary.bytes));
  }
  return values;
}

Values instruction_values(const InspectedCode& code) {
  std::map<std::string, std::int64_t> counts;
  if (const HloGraph* const stage = last_stage(code)) {
    for (const CodeNode& one : code_nodes(*stage)) {
      const HloNode& node = *one.node;
      ++counts[node.kind == NodeKind::kFusion ? node.opcode : node_title(node)];
    }
  }
  Values values;
  for (const auto& [what, count] : counts) values.emplace_back(what, std::to_string(count));
  return values;
}

Values layer_values(const InspectedCode& code) {
  Values values;
  if (const HloGraph* const stage = last_stage(code)) {
    for (const LayerSummary& layer : layers_of(*stage)) {
      values.emplace_back(layer.layer.empty() ? "(no layer)" : layer.layer,
                          duration_text(layer.picoseconds));
    }
  }
  return values;
}

// The first program's order, then what only the second has.
void add_unequal(ComparedKind kind, const Values& first, const Values& second,
                 std::vector<ComparedValue>& found) {
  const std::map<std::string, std::string> ours(first.begin(), first.end());
  const std::map<std::string, std::string> theirs(second.begin(), second.end());
  for (const auto& [what, value] : first) {
    const auto other = theirs.find(what);
    const std::string there = other == theirs.end() ? "" : other->second;
    if (there != value) found.push_back({kind, what, value, there});
  }
  for (const auto& [what, value] : second) {
    if (!ours.contains(what)) found.push_back({kind, what, "", value});
  }
}

std::string remark_lines(const char* which, const InspectedCode& code) {
  std::string text;
  for (const std::string& remark : code.remarks) {
    text += fmt::format("\nnote: {}: {}\n", which, shown(remark, 400));
  }
  return text;
}

}  // namespace

bool is_same_code(const InspectedCode& first, const InspectedCode& second) {
  return !first.code_sha256.empty() && first.code_sha256 == second.code_sha256;
}

std::string program_title(const InspectedCode& code) {
  if (code.batch_size == 0) return code.name;
  return fmt::format("{}, batch size {}, {}", code.name, code.batch_size, code.cpu_level);
}

std::vector<ComparedValue> compare_code(const InspectedCode& first, const InspectedCode& second) {
  std::vector<ComparedValue> found;
  const bool have_graphs = last_stage(first) != nullptr && last_stage(second) != nullptr;
  const Known known = have_graphs ? Known::kGraphs : Known::kSizes;
  add_unequal(ComparedKind::kWhole, whole_values(first, known), whole_values(second, known), found);
  if (!have_graphs) return found;
  add_unequal(ComparedKind::kInstruction, instruction_values(first), instruction_values(second),
              found);
  add_unequal(ComparedKind::kLayer, layer_values(first), layer_values(second), found);
  return found;
}

std::string comparison_text(const InspectedCode& first, const InspectedCode& second) {
  const std::vector<ComparedValue> found = compare_code(first, second);
  std::string text = fmt::format("first   {}\nsecond  {}\n", shown(program_title(first)),
                                 shown(program_title(second)));
  if (is_same_code(first, second)) {
    text += "the code is the same in every byte\n";
  }
  const std::string notes = remark_lines("first", first) + remark_lines("second", second);
  if (found.empty()) return text + "no difference\n" + notes;
  const auto cell_text = [](const std::string& value) {
    return value.empty() ? "-" : shown(value);
  };
  std::vector<std::vector<std::string>> rows = {{"", "", "first", "second"}};
  for (const ComparedValue& one : found) {
    rows.push_back(
        {word_of(one.kind), shown(one.what), cell_text(one.first), cell_text(one.second)});
  }
  return text + "\n" + text_table(rows) + notes;
}

nlohmann::ordered_json comparison_to_json(const ComparedProgram& first,
                                          const ComparedProgram& second) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ComparedValue& one : compare_code(first.code, second.code)) {
    list.push_back({{"kind", word_of(one.kind)},
                    {"what", one.what},
                    {"first", one.first},
                    {"second", one.second}});
  }
  return {{"kind", "comparison"},
          {"same_code", is_same_code(first.code, second.code)},
          {"differences", std::move(list)},
          {"first", inspection_to_json(first.code, first.path)},
          {"second", inspection_to_json(second.code, second.path)}};
}

}  // namespace tfaot::toolkit
