// SPDX-License-Identifier: Apache-2.0
#include "text/inspection_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/text_table.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/inspect/graph_summary.h"
#include "tfaot/records/hlo_graph_json.h"
#include "tfaot/records/symbols.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 20;
constexpr std::size_t kLongestDetail = 100;

// Text that is too long ends, or for names of nodes begins, with "..." between two words.
enum class KeptEnd { kHead, kTail };
std::string whole_words(const std::string& text, KeptEnd kept, std::size_t most = kLongestDetail) {
  if (text.size() <= most) return shown(text, most);
  constexpr const char* kBetween = " ,/;";
  if (kept == KeptEnd::kHead) {
    const std::size_t end = text.find_last_of(kBetween, most);
    return shown(text.substr(0, end == std::string::npos ? most : end), most) + " ...";
  }
  const std::size_t start = text.find_first_of(kBetween, text.size() - most);
  return "... " +
         shown(text.substr(start == std::string::npos ? text.size() - most : start + 1), most);
}

// Indented, below a blank line.
std::string indented_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text = "\n";
  for (const std::string& line : split_lines(text_table(rows))) text += "  " + line + "\n";
  return text;
}

std::string more_rows(std::size_t all) {
  if (all <= kMostRows) return "";
  return fmt::format("  and {} more; --json and --html show all\n", all - kMostRows);
}

std::string share_text(double share) {
  return share < 0 ? "-" : fmt::format("{:.1f} %", 100 * share);
}

// Of hot spots; left out if everything runs once.
constexpr std::ptrdiff_t kRunsColumn = 2;

std::string assumed_text(const std::vector<CodeNode>& nodes) {
  const std::string text = assumed_runs_note(nodes);
  return text.empty() ? "" : "  " + text + "\n";
}

std::int64_t kind_count(const StageSummary& summary, NodeKind kind) {
  const auto found = summary.kinds.find(kind);
  return found == summary.kinds.end() ? 0 : found->second;
}

std::string stages_text(const InspectedCode& code) {
  if (code.stages.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"stage", "instructions", "kernels", "calls", "products", "fusions", "loops", "control"}};
  for (const HloGraph& stage : code.stages) {
    const StageSummary summary = summary_of(stage);
    std::vector<std::string> cells = {shown(stage.stage), std::to_string(summary.instructions)};
    for (const NodeKind kind : {NodeKind::kKernel, NodeKind::kCall, NodeKind::kProduct,
                                NodeKind::kFusion, NodeKind::kLoop, NodeKind::kControl}) {
      cells.push_back(std::to_string(kind_count(summary, kind)));
    }
    rows.push_back(std::move(cells));
  }
  return indented_table(rows);
}

std::string hot_spots_text(const InspectedCode& code) {
  const HloGraph* const stage = last_stage(code);
  if (stage == nullptr) return "";
  const std::vector<CodeNode> nodes = code_nodes(*stage);
  const bool has_loops = runs_vary(nodes);
  std::vector<std::vector<std::string>> rows = {
      {"share", "time", "runs", "flops", "bytes", "kind", "what", "from", "sizes"}};
  for (const CodeNode& one : nodes) {
    if (rows.size() > kMostRows) break;
    const HloNode& node = *one.node;
    rows.push_back({share_text(one.share), duration_text(one.picoseconds), runs_text(one.runs),
                    count_text(one.flops), count_text(one.bytes), word_of(node.kind),
                    shown(node_title(node)), whole_words(short_origin(node.origin), KeptEnd::kTail),
                    whole_words(node_sizes(node), KeptEnd::kHead)});
  }
  if (!has_loops) {
    for (auto& row : rows) row.erase(row.begin() + kRunsColumn);
  }
  return indented_table(rows) + more_rows(nodes.size()) + assumed_text(nodes);
}

std::string weights_text(const InspectedCode& code) {
  if (code.weights.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"weight", "shape", "bytes", "made of"}};
  for (const WeightOrigin& weight : code.weights) {
    if (rows.size() > kMostRows) break;
    rows.push_back({shown(weight.name), shown(weight.shape), std::to_string(weight.bytes),
                    whole_words(made_of(weight), KeptEnd::kHead, 2 * kLongestDetail)});
  }
  return indented_table(rows) + more_rows(code.weights.size());
}

std::string flags_text(const InspectedCode& code) {
  if (code.flags.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"flag", "what it changes"}};
  for (const FlagEffect& effect : code.flags) {
    rows.push_back({shown(effect.variable + " " + effect.flag), effect_text(effect, code)});
  }
  return indented_table(rows);
}

ordered_json stage_to_json(const HloGraph& stage) {
  const StageSummary summary = summary_of(stage);
  ordered_json kinds = ordered_json::object();
  for (const auto& row : kWords<NodeKind>) kinds[row.word] = kind_count(summary, row.value);
  ordered_json json = {{"stage", stage.stage},      {"instructions", summary.instructions},
                       {"kinds", std::move(kinds)}, {"flops", summary.flops},
                       {"bytes", summary.bytes},    {"picoseconds", summary.picoseconds},
                       {"entry", stage.entry}};
  json["computations"] = json_of<ordered_json>(stage.computations);
  json["text"] = stage.text;
  return json;
}

ordered_json allocation_to_json(const Allocation& allocation) {
  ordered_json values = ordered_json::array();
  for (const PlacedValue& value : allocation.values) {
    values.push_back({{"name", value.name},
                      {"shape", value.shape},
                      {"offset", value.offset},
                      {"bytes", value.size},
                      {"first", value.first},
                      {"last", value.last}});
  }
  return {{"number", allocation.number},
          {"use", word_of(allocation.use)},
          {"parameter", allocation.parameter},
          {"bytes", allocation.size},
          {"values", std::move(values)}};
}

ordered_json flag_to_json(const FlagEffect& effect) {
  return {{"variable", effect.variable},
          {"flag", effect.flag},
          {"same_code", effect.same_code},
          {"problem", effect.problem},
          {"without",
           {{"instructions", effect.instructions},
            {"picoseconds", effect.picoseconds},
            {"code_bytes", effect.code_bytes}}}};
}

}  // namespace

std::string duration_text(std::int64_t picoseconds) {
  if (picoseconds < 0) return "-";
  const double ns = static_cast<double>(picoseconds) / 1000;
  if (ns < 999.5) return fmt::format("{:.{}f} ns", ns, ns < 9.95 ? 1 : 0);
  if (ns < 999'500) return fmt::format("{:.2f} µs", ns / 1000);
  return fmt::format("{:.2f} ms", ns / 1e6);
}

std::string count_text(std::int64_t number) {
  if (number < 0) return "-";
  if (number < 10'000) return std::to_string(number);
  const double count = static_cast<double>(number);
  if (count < 999'500) return fmt::format("{:.1f} k", count / 1e3);
  if (count < 999.5e6) return fmt::format("{:.1f} M", count / 1e6);
  return fmt::format("{:.1f} G", count / 1e9);
}

bool runs_vary(const std::vector<CodeNode>& nodes) {
  return std::ranges::any_of(nodes, [](const CodeNode& one) { return one.runs.times != 1; });
}

std::string runs_text(const Runs& runs) {
  const std::string count = count_text(static_cast<std::int64_t>(std::min(runs.times, 1e15)));
  return runs.is_assumed ? "~" + count : count;
}

std::string assumed_runs_note(const std::vector<CodeNode>& nodes) {
  const auto is_assumed = [](const CodeNode& one) { return one.runs.is_assumed; };
  if (std::ranges::none_of(nodes, is_assumed)) return "";
  return fmt::format("~: XLA does not know how often this loop turns; {} turns are assumed",
                     kAssumedTurns);
}

std::string made_of(const WeightOrigin& weight) {
  if (weight.variables.empty()) return "";
  const std::string variables = join(weight.variables, ", ");
  return weight.operations.empty() ? variables : join(weight.operations, ", ") + " of " + variables;
}

std::string effect_text(const FlagEffect& effect, const InspectedCode& with) {
  if (!effect.problem.empty()) return "without it, compiling fails: " + shown(effect.problem);
  if (effect.same_code) return "nothing: the code is the same without it";
  const HloGraph* const stage = last_stage(with);
  const StageSummary summary = stage == nullptr ? StageSummary() : summary_of(*stage);
  return fmt::format(
      "code of {} bytes instead of {}, {} instructions instead of {}, estimated {} instead of {}",
      with.code_bytes, effect.code_bytes, summary.instructions, effect.instructions,
      duration_text(summary.picoseconds), duration_text(effect.picoseconds));
}

const HloGraph* last_stage(const InspectedCode& code) {
  return code.stages.empty() ? nullptr : &code.stages.back();
}

std::string node_title(const HloNode& node) {
  if (node.kind == NodeKind::kKernel && node.callee.starts_with(kSymbolPrefix)) {
    return node.callee.substr(kSymbolPrefix.size());
  }
  if (!node.callee.empty()) return node.callee;
  return node.kind == NodeKind::kFusion ? node.name : node.opcode;
}

std::string node_sizes(const HloNode& node) {
  return node.kind == NodeKind::kKernel && !node.detail.empty() ? node.detail : node.shape;
}

std::vector<Fact> inspection_facts(const InspectedCode& code) {
  std::vector<Fact> facts = {{"compiler", code.engine}};
  if (code.code_bytes > 0) facts.push_back({"code", report::bytes_text(code.code_bytes)});
  const std::uint64_t scratch = bytes_of(code.buffers, BufferUse::kTemporary);
  if (!code.buffers.allocations.empty()) {
    const Peak peak = peak_of(code.buffers, BufferUse::kTemporary);
    facts.push_back(
        {"temporaries",
         report::bytes_text(scratch) +
             (peak.moment < 0 ? ""
                              : fmt::format(", of which at most {} are in use at a time",
                                            report::bytes_text(peak.bytes)))});
  }
  std::uint64_t weights = 0;
  for (const WeightOrigin& weight : code.weights) weights += weight.bytes;
  if (!code.weights.empty()) {
    facts.push_back(
        {"weights", fmt::format("{} in {}", report::bytes_text(weights), code.weights.size())});
  }
  if (code.picoseconds > 0) {
    const auto call = static_cast<std::int64_t>(code.picoseconds);
    facts.push_back({"estimated", fmt::format("{} a call, {} a row", duration_text(call),
                                              duration_text(call / code.batch_size))});
  }
  facts.push_back({"kernels", join(code.kernels, "\n")});
  return facts;
}

std::string inspection_text(const InspectedCode& code, const std::string& path) {
  std::string text = fmt::format("{} {}: {}", word_of(code.kind), shown(path), shown(code.name));
  if (code.batch_size > 0) {
    text += fmt::format(", batch size {}, {}", code.batch_size, shown(code.cpu_level));
  }
  text += "\n";
  for (const Fact& fact : inspection_facts(code)) {
    std::string label = fact.label;
    for (const std::string& line : split_lines(fact.value)) {
      text += fmt::format("  {:<13}{}\n", label, shown(line));
      label.clear();
    }
  }
  text += stages_text(code) + hot_spots_text(code) + weights_text(code) + flags_text(code);
  if (!code.other_modules.empty()) {
    text += fmt::format("\n  other modules of the dump, for --module: {}\n",
                        join(code.other_modules, ", "));
  }
  for (const std::string& remark : code.remarks) text += "\n  note: " + remark + "\n";
  return text;
}

ordered_json inspection_to_json(const InspectedCode& code, const std::string& path) {
  ordered_json stages = ordered_json::array();
  for (const HloGraph& stage : code.stages) stages.push_back(stage_to_json(stage));
  ordered_json allocations = ordered_json::array();
  for (const Allocation& allocation : code.buffers.allocations) {
    allocations.push_back(allocation_to_json(allocation));
  }
  ordered_json flags = ordered_json::array();
  for (const FlagEffect& effect : code.flags) flags.push_back(flag_to_json(effect));
  ordered_json json = {{"kind", word_of(code.kind)},
                       {"path", path},
                       {"name", code.name},
                       {"engine", code.engine},
                       {"batch_size", code.batch_size},
                       {"cpu_level", code.cpu_level},
                       {"estimated_picoseconds", code.picoseconds},
                       {"code_bytes", code.code_bytes},
                       {"code_sha256", code.code_sha256},
                       {"kernels", code.kernels}};
  json["weights"] = json_of<ordered_json>(code.weights);
  json["temporaries"] = {{"bytes", bytes_of(code.buffers, BufferUse::kTemporary)},
                         {"most_alive", peak_of(code.buffers, BufferUse::kTemporary).bytes}};
  json["allocations"] = std::move(allocations);
  json["moments"] = code.buffers.moments;
  json["flags"] = std::move(flags);
  json["other_modules"] = code.other_modules;
  json["remarks"] = code.remarks;
  json["stages"] = std::move(stages);
  return json;
}

}  // namespace tfaot::toolkit
