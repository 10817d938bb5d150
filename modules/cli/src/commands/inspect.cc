// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/inspect/buffer_map.h"
#include "tfaot/inspect/graph_drawing.h"
#include "tfaot/inspect/graph_summary.h"
#include "tfaot/records/hlo_graph_json.h"
#include "tfaot/records/symbols.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/inspect_code.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using report::Callout;
using report::Cell;
using report::ColumnKind;
using report::Figure;
using report::Listing;
using report::Section;
using report::Table;
using report::Verdict;
using report::Where;

// The page of an inspection.

// Of the text; page and JSON have all.
constexpr std::size_t kMostRows = 20;
constexpr std::size_t kLongestDetail = 100;

// "12.345 µs", "345 ns"; "-" for a negative number.
std::string duration_text(std::int64_t picoseconds) {
  if (picoseconds < 0) return "-";
  const double ns = static_cast<double>(picoseconds) / 1000;
  if (ns < 999.5) return fmt::format("{:.{}f} ns", ns, ns < 9.95 ? 1 : 0);
  if (ns < 999'500) return fmt::format("{:.2f} µs", ns / 1000);
  return fmt::format("{:.2f} ms", ns / 1e6);
}

// "12.3 M". REQUIRES: the number is not negative.
std::string count_text(std::int64_t number) {
  if (number < 10'000) return std::to_string(number);
  const double count = static_cast<double>(number);
  if (count < 999'500) return fmt::format("{:.1f} k", count / 1e3);
  if (count < 999.5e6) return fmt::format("{:.1f} M", count / 1e6);
  return fmt::format("{:.1f} G", count / 1e9);
}

// True if anything runs another number of times than once.
bool runs_vary(const std::vector<CodeNode>& nodes) {
  return std::ranges::any_of(nodes, [](const CodeNode& one) { return one.runs.times != 1; });
}

// "5"; "~16" if the number is assumed.
std::string runs_text(const Runs& runs) {
  const std::string count = count_text(static_cast<std::int64_t>(std::min(runs.times, 1e15)));
  return runs.is_assumed ? "~" + count : count;
}

// What "~" means; empty if none is assumed.
std::string assumed_runs_note(const std::vector<CodeNode>& nodes) {
  const auto is_assumed = [](const CodeNode& one) { return one.runs.is_assumed; };
  if (std::ranges::none_of(nodes, is_assumed)) return "";
  return fmt::format("~: XLA does not know how often this loop turns; {} turns are assumed",
                     kAssumedTurns);
}

// The last stage: what code is made of. Null if no stage is known.
const HloGraph* last_stage(const InspectedCode& code) {
  return code.stages.empty() ? nullptr : &code.stages.back();
}

// What a flag for the compiler changes.
std::string effect_text(const FlagEffect& effect, const InspectedCode& with) {
  if (!effect.problem.empty()) return "without it, compiling fails: " + effect.problem;
  if (effect.same_code) return "nothing: the code is the same without it";
  const HloGraph* const stage = last_stage(with);
  const StageSummary summary = stage == nullptr ? StageSummary() : summary_of(*stage);
  return fmt::format(
      "code of {} bytes instead of {}, {} instructions instead of {}, estimated {} instead of {}",
      with.code_bytes, effect.code_bytes, summary.instructions, effect.instructions,
      duration_text(summary.picoseconds), duration_text(effect.picoseconds));
}

// "matmul_f32_x86_64_v3" for one of our kernels, the opcode or the function otherwise.
std::string node_title(const HloNode& node) {
  if (node.kind == NodeKind::kKernel && node.callee.starts_with(kSymbolPrefix)) {
    return node.callee.substr(kSymbolPrefix.size());
  }
  if (!node.callee.empty()) return node.callee;
  return node.kind == NodeKind::kFusion ? node.name : node.opcode;
}

// What a kernel call multiplies, the shape of its result otherwise.
std::string node_sizes(const HloNode& node) {
  return node.kind == NodeKind::kKernel && !node.detail.empty() ? node.detail : node.shape;
}

std::uint64_t bytes_of_weights(const InspectedCode& code) {
  std::uint64_t bytes = 0;
  for (const WeightOrigin& weight : code.weights) bytes += weight.bytes;
  return bytes;
}

std::int64_t kind_count(const StageSummary& summary, NodeKind kind) {
  const auto found = summary.kinds.find(kind);
  return found == summary.kinds.end() ? 0 : found->second;
}

// Sizes and times in a few lines.
report::Facts inspection_facts(const InspectedCode& code) {
  std::vector<report::Fact> facts = {{"compiler", code.engine}};
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
  if (!code.weights.empty()) {
    facts.push_back({"weights", fmt::format("{} in {}", report::bytes_text(bytes_of_weights(code)),
                                            code.weights.size())});
  }
  if (code.picoseconds > 0) {
    const auto call = static_cast<std::int64_t>(code.picoseconds);
    facts.push_back({"estimated", fmt::format("{} a call, {} a row", duration_text(call),
                                              duration_text(call / code.batch_size))});
  }
  facts.push_back({"kernels", join(code.kernels, "\n")});
  facts.push_back({"other modules", join(code.other_modules, ", ") + " (--module)"});
  if (code.other_modules.empty()) facts.pop_back();
  return {std::move(facts)};
}

// Two programs.

std::string numbered(std::uint64_t number) { return number == 0 ? "" : std::to_string(number); }

// Of numbers that need graphs, if both programs have them.
enum class Known { kSizes, kGraphs };

NamedValues whole_values(const InspectedCode& code, Known known) {
  const auto call = static_cast<std::int64_t>(code.picoseconds);
  NamedValues values = {
      {"code bytes", numbered(code.code_bytes)},
      {"bytes of temporaries", numbered(bytes_of(code.buffers, BufferUse::kTemporary))},
      {"most of them in use", numbered(peak_of(code.buffers, BufferUse::kTemporary).bytes)},
      {"bytes of weights", numbered(bytes_of_weights(code))},
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

NamedValues instruction_values(const InspectedCode& code) {
  std::map<std::string, std::int64_t> counts;
  if (const HloGraph* const stage = last_stage(code)) {
    for (const CodeNode& one : code_nodes(*stage)) {
      const HloNode& node = *one.node;
      ++counts[node.kind == NodeKind::kFusion ? node.opcode : node_title(node)];
    }
  }
  return mapped(counts,
                [](const auto& one) { return std::pair(one.first, std::to_string(one.second)); });
}

std::string layer_title(const LayerSummary& layer) {
  return layer.layer.empty() ? "(no layer)" : layer.layer;
}

NamedValues layer_values(const InspectedCode& code) {
  const HloGraph* const stage = last_stage(code);
  if (stage == nullptr) return {};
  return mapped(layers_of(*stage), [](const LayerSummary& layer) {
    return std::pair(layer_title(layer), duration_text(layer.picoseconds));
  });
}

struct ComparedValues {
  const char* kind;
  std::vector<Difference> found;
};

// Of an instruction: how many there are; of a layer: its estimated time.
std::vector<ComparedValues> compare_code(const InspectedCode& first, const InspectedCode& second) {
  const bool have_graphs = last_stage(first) != nullptr && last_stage(second) != nullptr;
  const Known known = have_graphs ? Known::kGraphs : Known::kSizes;
  std::vector<ComparedValues> values = {
      {"program", differences(whole_values(first, known), whole_values(second, known))}};
  if (!have_graphs) return values;
  values.push_back(
      {"instruction", differences(instruction_values(first), instruction_values(second))});
  values.push_back({"layer", differences(layer_values(first), layer_values(second))});
  return values;
}

// In every byte of the object.
bool is_same_code(const InspectedCode& first, const InspectedCode& second) {
  return !first.code_sha256.empty() && first.code_sha256 == second.code_sha256;
}

// "tagger 1.0.0, batch size 4, x86-64-v3"
std::string program_title(const InspectedCode& code) {
  if (code.batch_size == 0) return code.name;
  return fmt::format("{}, batch size {}, {}", code.name, code.batch_size, code.cpu_level);
}

// A drawing of a stage, or why there is none.
struct StageDrawing {
  std::string stage;
  std::string title;
  std::string svg;      // for a page; may be empty
  std::string problem;  // instead
};

// The section of an inspection that says what became of each product of the model.

std::set<std::string> weight_names(const std::vector<WeightOrigin>& weights) {
  std::set<std::string> names;
  for (const WeightOrigin& weight : weights) {
    names.insert(weight.variables.begin(), weight.variables.end());
  }
  return names;
}

// `before`: products are not calls yet; `after`: the last stage.
report::Section products_section(const HloGraph& before, const HloGraph& after,
                                 const std::vector<WeightOrigin>& weights) {
  report::Table table{.caption = "Products, convolutions and windows",
                      .columns = {{"in the model", report::ColumnKind::kCode},
                                  {"operation", report::ColumnKind::kCode},
                                  {"result", report::ColumnKind::kCode},
                                  {"became"},
                                  {"sizes"}}};
  for (const ProductFate& fate : product_fates(before, after, weight_names(weights))) {
    const HloNode& node = *fate.product;
    std::vector<std::string> became;
    std::vector<std::string> sizes;
    bool is_kernel = false;
    for (const HloNode* made : fate.became) {
      is_kernel = is_kernel || made->kind == NodeKind::kKernel;
      became.push_back(made->kind == NodeKind::kKernel ? node_title(*made)
                                                       : made->opcode + ", made by XLA");
      sizes.push_back(made->detail);
    }
    table.rows.push_back(
        {{short_origin(node.origin)},
         {node.opcode},
         {node.shape},
         {.text = became.empty() ? "computed ahead, or removed" : join(became, "\n"),
          .verdict = became.empty() ? report::Verdict::kNone
                     : is_kernel    ? report::Verdict::kGood
                                    : report::Verdict::kWarning},
         {is_kernel ? join(sizes, "\n") : ""}});
  }
  return {"Products", {}, {std::move(table)}, Where::kPage};
}

// The temporaries of a program over time: which value is where, and from when to when.

constexpr double kMapWidth = 1000;
constexpr double kMapHeight = 420;
constexpr double kMapLeft = 86;  // of the axis' labels
constexpr double kMapTop = 12;
constexpr double kMapBottom = 40;
constexpr double kLetterWidth = 7;  // of a label
constexpr double kLabelHeight = 15;
constexpr int kTicks = 4;
constexpr std::size_t kSeries = report::kMostSeries;

// The pixels of moments and bytes.
struct MapScale {
  double moments;
  double bytes;
  double x(std::int64_t moment) const {
    return kMapLeft + static_cast<double>(moment) / moments * kMapWidth;
  }
  double y(std::uint64_t offset) const {
    return kMapTop + static_cast<double>(offset) / bytes * kMapHeight;
  }
};

std::string map_axes(const MapScale& scale, const BufferMap& map) {
  std::string svg;
  for (int i = 0; i <= kTicks; ++i) {
    const double share = static_cast<double>(i) / kTicks;
    const auto bytes = static_cast<std::uint64_t>(std::llround(share * scale.bytes));
    const double y = scale.y(bytes);
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"var(--line)\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kMapLeft, y, kMapLeft + kMapWidth, kMapLeft - 6, y + 4, report::bytes_text(bytes));
  }
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\">first instruction</text>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">last of {}</text>\n",
      kMapLeft, kMapTop + kMapHeight + 20, kMapLeft + kMapWidth, kMapTop + kMapHeight + 20,
      map.moments.size());
  return svg;
}

std::string map_box(const PlacedValue& value, std::uint64_t base, const MapScale& scale,
                    std::size_t colour) {
  const double x = scale.x(value.first);
  const double y = scale.y(base + value.offset);
  const double width = std::max(scale.x(value.last + 1) - x, 2.0);
  const double height = std::max(scale.y(base + value.offset + value.size) - y, 1.5);
  std::string svg = fmt::format(
      "<g><title>{}: {}, {}, alive from {} to {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
      "width=\"{:.1f}\" height=\"{:.1f}\" fill=\"var(--series-{})\" fill-opacity=\"0.35\" "
      "stroke=\"var(--series-{})\"/>",
      report::escaped(value.name), report::escaped(value.shape), report::bytes_text(value.size),
      value.first, value.last, x, y, width, height, colour, colour);
  if (height >= kLabelHeight && width >= kLetterWidth * static_cast<double>(value.name.size())) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 4, y + height / 2 + 4,
                       report::escaped(value.name));
  }
  return svg + "</g>\n";
}

// SVG for a page; empty if nothing is known of the lifetimes.
std::string memory_drawing(const BufferMap& map) {
  const std::uint64_t bytes = bytes_of(map, BufferUse::kTemporary);
  const Peak peak = peak_of(map, BufferUse::kTemporary);
  if (bytes == 0 || peak.moment < 0 || map.moments.empty()) return "";
  const MapScale scale{static_cast<double>(map.moments.size()) + 1, static_cast<double>(bytes)};
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"var(--ink)\">\n",
      kMapLeft + kMapWidth + 10, kMapTop + kMapHeight + kMapBottom, kMapLeft + kMapWidth + 10);
  svg += map_axes(scale, map);
  std::uint64_t base = 0;
  std::size_t colour = 0;
  for (const Allocation& allocation : map.allocations) {
    if (allocation.use != BufferUse::kTemporary) continue;
    for (const PlacedValue& value : allocation.values) {
      if (value.first >= 0) svg += map_box(value, base, scale, colour++ % kSeries + 1);
    }
    base += allocation.size;
  }
  svg += fmt::format(
      "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"var(--bad)\" "
      "stroke-dasharray=\"4 4\"><title>most bytes are alive: {3}</title></line>\n",
      scale.x(peak.moment), kMapTop, kMapTop + kMapHeight, report::bytes_text(peak.bytes));
  return svg + "</svg>\n";
}

// Larger graphs take graphviz minutes, and browsers too much memory.
constexpr std::size_t kMostBoxes = 1500;
constexpr std::size_t kMostLines = 20'000;
constexpr std::size_t kMostLayerBars = 20;

// "-" for a negative number, which is not known; sorted by the number.
Cell known_cell(std::int64_t number, std::string (*text_of)(std::int64_t)) {
  if (number < 0) return {.text = "-"};
  return {.text = text_of(number), .number = static_cast<double>(number)};
}

Verdict verdict_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kKernel:
      return Verdict::kGood;
    case NodeKind::kFusion:
    case NodeKind::kControl:
      return Verdict::kNote;
    case NodeKind::kCall:
    case NodeKind::kProduct:
      return Verdict::kWarning;
    case NodeKind::kData:
    case NodeKind::kLoop:
      break;
  }
  return Verdict::kNone;
}

constexpr std::ptrdiff_t kRunsCell = 2;

std::vector<Cell> hot_spot_row(const CodeNode& one) {
  const HloNode& node = *one.node;
  Cell share{.text = "-"};
  if (one.share >= 0) {
    share = {
        .text = fmt::format("{:.1f} %", 100 * one.share), .number = one.share, .share = one.share};
  }
  return {std::move(share),
          known_cell(one.picoseconds, duration_text),
          {.text = runs_text(one.runs), .number = one.runs.times},
          known_cell(one.flops, count_text),
          known_cell(one.bytes, count_text),
          {.text = word_of(node.kind), .verdict = verdict_of(node.kind)},
          {node_title(node)},
          {short_origin(node.origin)},
          {node_sizes(node)},
          {node.name}};
}

Section hot_spots_section(const HloGraph& stage) {
  Table table{.caption = "Instructions with code, by estimated time",
              .columns = {{"share", ColumnKind::kNumber},
                          {"time", ColumnKind::kNumber},
                          {"runs", ColumnKind::kNumber},
                          {"flops", ColumnKind::kNumber},
                          {"bytes", ColumnKind::kNumber},
                          {"kind"},
                          {"what", ColumnKind::kCode},
                          {"from", ColumnKind::kCode},
                          {"sizes"},
                          {"name", ColumnKind::kCode, Where::kPage}},
              .most_rows = kMostRows,
              .most_bytes = kLongestDetail};
  const std::vector<CodeNode> nodes = code_nodes(stage);
  const bool has_loops = runs_vary(nodes);
  for (const CodeNode& one : nodes) {
    table.rows.push_back(hot_spot_row(one));
    if (!has_loops) table.rows.back().erase(table.rows.back().begin() + kRunsCell);
  }
  if (!has_loops) table.columns.erase(table.columns.begin() + kRunsCell);
  Section section{"Hot spots", {}, {}};
  report::Bars bars{.caption = "Estimated time by layer", .where = Where::kPage};
  for (const LayerSummary& layer : layers_of(stage)) {
    if (layer.picoseconds <= 0 || bars.bars.size() == kMostLayerBars) break;
    bars.bars.push_back({layer_title(layer), static_cast<double>(layer.picoseconds),
                         duration_text(layer.picoseconds)});
  }
  if (!bars.bars.empty()) section.blocks.emplace_back(std::move(bars));
  section.blocks.emplace_back(std::move(table));
  if (const std::string note = assumed_runs_note(nodes); !note.empty()) {
    section.blocks.emplace_back(report::Text{note});
  }
  return section;
}

const HloGraph* stage_named(const InspectedCode& code, const std::string& name) {
  const auto found = std::ranges::find(code.stages, name, &HloGraph::stage);
  return found == code.stages.end() ? nullptr : &*found;
}

Section stages_section(const InspectedCode& code, const std::vector<StageDrawing>& drawings) {
  Table table{.caption = "Stages", .columns = {{"stage"}, {"instructions", ColumnKind::kNumber}}};
  for (const auto& row : kWords<NodeKind>) {
    const Where where = row.value == NodeKind::kData ? Where::kPage : Where::kBoth;
    table.columns.push_back({row.word, ColumnKind::kNumber, where});
  }
  for (const HloGraph& stage : code.stages) {
    const StageSummary summary = summary_of(stage);
    std::vector<Cell> cells = {{stage.stage}, number_cell(summary.instructions)};
    for (const auto& row : kWords<NodeKind>) {
      cells.push_back(number_cell(kind_count(summary, row.value)));
    }
    table.rows.push_back(std::move(cells));
  }
  Section section{"Stages", {}, {std::move(table)}};
  for (const StageDrawing& drawing : drawings) {
    if (drawing.svg.empty()) {
      section.blocks.emplace_back(Callout{.text = drawing.title, .notes = {drawing.problem}});
    } else {
      section.blocks.emplace_back(Figure{.title = drawing.title,
                                         .caption = "",
                                         .svg = drawing.svg,
                                         .zoomable = true,
                                         .folded = &drawing != &drawings.front()});
    }
  }
  for (const HloGraph& stage : code.stages) {
    section.blocks.emplace_back(Listing{"HLO of " + stage.stage, stage.text, false, {}});
  }
  section.blocks.emplace_back(
      report::Link{"The graph of the model itself: open its file in Netron", "https://netron.app"});
  return section;
}

Section memory_section(const BufferMap& map) {
  Section section{"Memory", {}, {}, Where::kPage};
  if (std::string svg = memory_drawing(map); !svg.empty()) {
    section.blocks.emplace_back(
        Figure{.title = "Temporaries over time",
               .caption = "Temporaries: from left to right the instructions in the order in which "
                          "they run, from top to bottom the addresses. The dashed line is the "
                          "moment at which most bytes are alive.",
               .svg = std::move(svg),
               .zoomable = true});
  }
  Table table{.caption = "Buffers",
              .columns = {{"use"},
                          {"number", ColumnKind::kNumber},
                          {"value", ColumnKind::kCode},
                          {"shape", ColumnKind::kCode},
                          {"offset", ColumnKind::kNumber},
                          {"bytes", ColumnKind::kNumber},
                          {"from", ColumnKind::kNumber},
                          {"to", ColumnKind::kNumber}}};
  for (const Allocation& allocation : map.allocations) {
    std::vector<PlacedValue> values = allocation.values;
    if (values.empty()) values.push_back({.size = allocation.size});
    for (const PlacedValue& value : values) {
      table.rows.push_back({{word_of(allocation.use)},
                            number_cell(allocation.number),
                            {value.name},
                            {value.shape},
                            number_cell(static_cast<std::int64_t>(value.offset)),
                            number_cell(static_cast<std::int64_t>(value.size)),
                            known_cell(value.first, report::grouped_digits),
                            known_cell(value.last, report::grouped_digits)});
    }
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section origins_section(const std::vector<WeightOrigin>& weights) {
  Table table{.caption = counted(weights.size(), "weight"),
              .columns = {{"weight", ColumnKind::kCode},
                          {"shape", ColumnKind::kCode},
                          {"bytes", ColumnKind::kNumber},
                          {"made of", ColumnKind::kCode},
                          {"by"}},
              .most_rows = kMostRows,
              .most_bytes = kLongestDetail};
  for (const WeightOrigin& weight : weights) {
    table.rows.push_back({{weight.name},
                          {weight.shape},
                          number_cell(static_cast<std::int64_t>(weight.bytes)),
                          {join(weight.variables, "\n")},
                          {join(weight.operations, ", ")}});
  }
  return {"Weights", {}, {std::move(table)}};
}

Section flags_section(const InspectedCode& code) {
  Table table{.caption = "Flags of the config",
              .columns = {{"variable"}, {"flag", ColumnKind::kCode}, {"what it changes"}}};
  for (const FlagEffect& effect : code.flags) {
    table.rows.push_back({{effect.variable}, {effect.flag}, {effect_text(effect, code)}});
  }
  return {"Flags", {}, {std::move(table)}};
}

void add_listing(const std::string& title, const CodeListing& listing, Section& section) {
  if (listing.text.empty()) return;
  std::vector<std::string> lines = split_lines(listing.text);
  Listing block{title, listing.text, false, listing.calls};
  if (lines.size() > kMostLines) {
    lines.resize(kMostLines);
    lines.emplace_back("... cut here: 'tfaot inspect --stage' prints all");
    block.text = join(lines, "\n");
  }
  section.blocks.emplace_back(std::move(block));
}

Section code_section(const InspectedCode& code) {
  Section section{"Code", {}, {}, Where::kPage};
  section.blocks.emplace_back(report::Text{"Calls of kernels are marked."});
  add_listing("LLVM IR before LLVM's optimisation", code.first_llvm, section);
  add_listing("LLVM IR after it", code.llvm, section);
  add_listing("Assembly", code.assembly, section);
  return section;
}

void add_remarks(const InspectedCode& code, const std::string& which, Section& section) {
  for (const std::string& remark : code.remarks) {
    section.blocks.emplace_back(Callout{.text = which + remark});
  }
}

Section overview_section(const InspectedCode& code) {
  Section section{report::kOverview, {}, {inspection_facts(code)}};
  add_remarks(code, "", section);
  return section;
}

// " 93 % of the estimated time is in kernels of tfaot."
std::string kernels_sentence(const InspectedCode& code) {
  const HloGraph* const stage = last_stage(code);
  if (stage == nullptr) return "";
  double share = 0;
  bool is_known = false;
  for (const CodeNode& one : code_nodes(*stage)) {
    if (one.share < 0) continue;
    is_known = true;
    if (one.node->kind == NodeKind::kKernel) share += one.share;
  }
  if (!is_known) return "";
  return fmt::format(" {:.0f} % of the estimated time is in kernels of tfaot.", 100 * share);
}

std::vector<report::Highlight> inspection_highlights(const InspectedCode& code) {
  std::vector<report::Highlight> highlights;
  if (code.picoseconds > 0) {
    const auto call = static_cast<std::int64_t>(code.picoseconds);
    highlights.push_back(
        {"estimated call", duration_text(call), duration_text(call / code.batch_size) + " a row"});
  }
  if (code.code_bytes > 0) {
    highlights.push_back(
        {"code", report::bytes_text(code.code_bytes), counted(code.kernels.size(), "kernel")});
  }
  highlights.push_back(
      {"temporaries", report::bytes_text(bytes_of(code.buffers, BufferUse::kTemporary)), ""});
  if (!code.weights.empty()) {
    highlights.push_back({"weights", report::bytes_text(bytes_of_weights(code)),
                          counted(code.weights.size(), "tensor")});
  }
  if (const HloGraph* const stage = last_stage(code)) {
    highlights.push_back(
        {"instructions", report::grouped_digits(summary_of(*stage).instructions), stage->stage});
  }
  return highlights;
}

// Starts graphviz for each stage; without graphviz, the first drawing says so and is the only one.
std::vector<StageDrawing> draw_stages(const InspectedCode& code) {
  std::vector<StageDrawing> drawings;
  bool goes_on = true;
  const auto draw = [&](const HloGraph& stage, DrawnDetail detail, const std::string& title) {
    if (!goes_on) return;
    StageDrawing drawing{stage.stage, title, "", ""};
    if (const std::size_t boxes = drawn_boxes(stage, detail); boxes > kMostBoxes) {
      drawing.problem = fmt::format("too large to draw: {} boxes; --format dot writes it", boxes);
    } else if (auto svg = svg_of(dot_of(stage, detail))) {
      drawing.svg = with_page_colours(*std::move(svg));
    } else {
      drawing.problem = svg.error().text();
      goes_on = false;
    }
    drawings.push_back(std::move(drawing));
  };
  const HloGraph* const last = last_stage(code);
  if (last == nullptr) return drawings;
  draw(*last, DrawnDetail::kLayers, "Layers of " + last->stage);
  for (const HloGraph& stage : code.stages) {
    draw(stage, DrawnDetail::kInstructions, "Instructions of " + stage.stage);
  }
  const auto is_fused = [](const HloComputation& one) { return one.is_fused || one.is_applied; };
  if (std::ranges::any_of(last->computations, is_fused)) {
    draw(*last, DrawnDetail::kAll, "Instructions of " + last->stage + ", fusions opened");
  }
  return drawings;
}

// `path`: as the user wrote it.
report::Page inspection_page(const InspectedCode& code, const std::string& path,
                             const std::vector<StageDrawing>& drawings) {
  report::Page page;
  page.kind = "inspection";
  page.title = code.name;
  page.heading = fmt::format("{} {}: {}", word_of(code.kind), path, program_title(code));
  if (code.batch_size > 0) {
    page.summary = fmt::format("Batch size {}, {}.{}", code.batch_size, code.cpu_level,
                               kernels_sentence(code));
  }
  page.highlights = inspection_highlights(code);
  page.sections.push_back(overview_section(code));
  const HloGraph* const last = last_stage(code);
  if (last != nullptr) page.sections.push_back(hot_spots_section(*last));
  if (const HloGraph* const before = stage_named(code, "simplified"); before != nullptr) {
    page.sections.push_back(products_section(*before, *last, code.weights));
  }
  if (last != nullptr) page.sections.push_back(stages_section(code, drawings));
  if (!code.buffers.allocations.empty()) page.sections.push_back(memory_section(code.buffers));
  if (!code.weights.empty()) page.sections.push_back(origins_section(code.weights));
  if (!code.flags.empty()) page.sections.push_back(flags_section(code));
  page.sections.push_back(code_section(code));
  return page;
}

report::Page comparison_page(const InspectedCode& first, const InspectedCode& second) {
  report::Page page;
  page.kind = "comparison of code";
  page.title = first.name == second.name ? first.name : first.name + " and " + second.name;
  page.badge = is_same_code(first, second)
                   ? report::Badge{Verdict::kGood, "the code is the same in every byte"}
                   : report::Badge{Verdict::kNote, "other code"};
  Section overview{
      report::kOverview,
      {},
      {report::Facts{{{"first", program_title(first)}, {"second", program_title(second)}}}}};
  add_remarks(first, "first: ", overview);
  add_remarks(second, "second: ", overview);
  Table table{.caption = "What differs",
              .columns = {{"of"}, {"what", ColumnKind::kCode}, {"first"}, {"second"}},
              .empty = "nothing"};
  for (const ComparedValues& values : compare_code(first, second)) {
    for (const Difference& one : values.found) {
      table.rows.push_back({{values.kind},
                            {one.what},
                            {one.first.empty() ? "-" : one.first},
                            {one.second.empty() ? "-" : one.second}});
    }
  }
  page.sections = {std::move(overview), {"Differences", {}, {std::move(table)}}};
  for (const InspectedCode* const code : {&first, &second}) {
    Section section{code == &first ? "First" : "Second", {}, {inspection_facts(*code)}};
    section.where = Where::kPage;
    if (const HloGraph* const stage = last_stage(*code)) {
      for (report::Block& block : hot_spots_section(*stage).blocks) {
        section.blocks.push_back(std::move(block));
      }
    }
    page.sections.push_back(std::move(section));
  }
  return page;
}

ordered_json stage_to_json(const HloGraph& stage) {
  const StageSummary summary = summary_of(stage);
  ordered_json kinds = ordered_json::object();
  for (const auto& row : kWords<NodeKind>) kinds[row.word] = kind_count(summary, row.value);
  return {{"stage", stage.stage},      {"instructions", summary.instructions},
          {"kinds", std::move(kinds)}, {"flops", summary.flops},
          {"bytes", summary.bytes},    {"picoseconds", summary.picoseconds},
          {"entry", stage.entry},      {"computations", computations_to_json(stage.computations)},
          {"text", stage.text}};
}

ordered_json allocation_to_json(const Allocation& allocation) {
  const auto value_to_json = [](const PlacedValue& value) -> ordered_json {
    return {{"name", value.name},  {"shape", value.shape}, {"offset", value.offset},
            {"bytes", value.size}, {"first", value.first}, {"last", value.last}};
  };
  return {{"number", allocation.number},
          {"use", word_of(allocation.use)},
          {"parameter", allocation.parameter},
          {"bytes", allocation.size},
          {"values", mapped(allocation.values, value_to_json)}};
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

ordered_json inspection_to_json(const InspectedCode& code, const std::string& path) {
  return {{"kind", word_of(code.kind)},
          {"path", path},
          {"name", code.name},
          {"engine", code.engine},
          {"batch_size", code.batch_size},
          {"cpu_level", code.cpu_level},
          {"estimated_picoseconds", code.picoseconds},
          {"code_bytes", code.code_bytes},
          {"code_sha256", code.code_sha256},
          {"kernels", code.kernels},
          {"weights", weights_to_json(code.weights)},
          {"temporaries",
           {{"bytes", bytes_of(code.buffers, BufferUse::kTemporary)},
            {"most_alive", peak_of(code.buffers, BufferUse::kTemporary).bytes}}},
          {"allocations", mapped(code.buffers.allocations, allocation_to_json)},
          {"moments", code.buffers.moments},
          {"flags", mapped(code.flags, flag_to_json)},
          {"other_modules", code.other_modules},
          {"remarks", code.remarks},
          {"stages", mapped(code.stages, stage_to_json)}};
}

// `path`: as the user wrote it.
struct ComparedProgram {
  const InspectedCode& code;
  const std::string& path;
};
ordered_json comparison_to_json(const ComparedProgram& first, const ComparedProgram& second) {
  ordered_json list = ordered_json::array();
  for (const ComparedValues& values : compare_code(first.code, second.code)) {
    for (const Difference& one : values.found) {
      list.push_back({{"kind", values.kind},
                      {"what", one.what},
                      {"first", one.first},
                      {"second", one.second}});
    }
  }
  return {{"kind", "comparison"},
          {"same_code", is_same_code(first.code, second.code)},
          {"differences", std::move(list)},
          {"first", inspection_to_json(first.code, first.path)},
          {"second", inspection_to_json(second.code, second.path)}};
}

enum class StageFormat { kText, kDot, kSvg };
constexpr const char* kAssembly = "assembly";
constexpr const char* kLlvm = "llvm";
constexpr const char* kFirstLlvm = "llvm_unoptimized";

}  // namespace

template <>
inline constexpr auto kWords<StageFormat> = std::to_array<Word<StageFormat>>({
    {StageFormat::kText, "text"},
    {StageFormat::kDot, "dot"},
    {StageFormat::kSvg, "svg"},
});

namespace {

struct InspectArguments {
  std::string path;
  std::string other;  // empty: none
  std::vector<std::int64_t> batch_sizes;
  std::vector<std::string> cpu_levels;
  bool against_no_flags = false;
  std::string stage;
  std::optional<StageFormat> format;
  std::optional<DrawnDetail> detail;
  std::string output;
  std::string dump;
  HtmlOption html;
  InspectRequest request;

  bool compares() const {
    return !other.empty() || batch_sizes.size() > 1 || cpu_levels.size() > 1 || against_no_flags;
  }
  bool prints_stage() const { return !stage.empty() || format || detail || !output.empty(); }
};

Status check_inspect_options(const InspectArguments& options, bool json) {
  const auto is_wrong = [](std::int64_t size) { return size < 1 || size > kLargestBatchSize; };
  if (const auto wrong = std::ranges::find_if(options.batch_sizes, is_wrong);
      wrong != options.batch_sizes.end()) {
    return fail(Error::usage(fmt::format("inspect: --batch-sizes: {} is not a number from 1 to {}",
                                         *wrong, kLargestBatchSize)));
  }
  if (options.batch_sizes.size() > 2 || options.cpu_levels.size() > 2) {
    return fail(Error::usage("inspect: two programs are compared, not more"));
  }
  if (options.compares() && options.prints_stage()) {
    return fail(Error::usage("inspect: --stage, --format, --detail and -o are for one program")
                    .note("give one path, one batch size and one CPU level"));
  }
  if (options.compares() && !options.dump.empty()) {
    return fail(Error::usage("inspect: --dump is for one program"));
  }
  if (options.prints_stage() && (json || options.html.given())) {
    return fail(Error::usage("inspect: --stage prints one stage, and no --json or --html"));
  }
  return {};
}

// Its first or second program.
InspectRequest side_of(const InspectArguments& options, const Program& program, std::size_t side) {
  const auto pick = [side](const auto& list) { return list[std::min(side, list.size() - 1)]; };
  InspectRequest request = options.request;
  const bool is_other = side == 1 && !options.other.empty();
  request.path = program.absolute(is_other ? options.other : options.path);
  if (!options.batch_sizes.empty()) request.batch_size = pick(options.batch_sizes);
  if (!options.cpu_levels.empty()) request.cpu_level = pick(options.cpu_levels);
  request.without_flags = side == 1 && options.against_no_flags;
  request.flag_effects = !options.compares() && !options.prints_stage();
  if (!options.dump.empty()) request.dump_directory = program.absolute(options.dump);
  return request;
}

// A stage of the code that is not HLO; null if the name is another.
const CodeListing* listing_named(const InspectedCode& code, const std::string& name) {
  if (name == kAssembly) return &code.assembly;
  if (name == kLlvm) return &code.llvm;
  return name == kFirstLlvm ? &code.first_llvm : nullptr;
}

Result<const HloGraph*> graph_named(const InspectedCode& code, const std::string& name) {
  if (const HloGraph* const stage = name.empty() ? last_stage(code) : stage_named(code, name)) {
    return stage;
  }
  std::vector<std::string> names = mapped(code.stages, &HloGraph::stage);
  names.insert(names.end(), {kFirstLlvm, kLlvm, kAssembly});
  Error error = name.empty() ? Error("no stage of HLO is known")
                             : Error::usage(fmt::format("--stage: there is no '{}'", name));
  if (const auto guess = closest_match(name, names)) error.note("did you mean '" + *guess + "'?");
  return fail(error.note("stages: " + join(names, ", ")));
}

Result<std::string> stage_text(const InspectArguments& options, const InspectedCode& code) {
  const StageFormat format = options.format.value_or(StageFormat::kText);
  if (const CodeListing* const listing = listing_named(code, options.stage)) {
    if (format != StageFormat::kText) {
      return fail(Error::usage(fmt::format("--stage {} is text only", options.stage)));
    }
    if (!listing->text.empty()) return listing->text;
    return fail(
        Error(fmt::format("no {} of this program is known", options.stage))
            .note(code.remarks.empty() ? "the dump does not hold it" : code.remarks.front()));
  }
  TFAOT_ASSIGN(const HloGraph* const graph, graph_named(code, options.stage));
  if (format == StageFormat::kText) return graph->text;
  const std::string dot = dot_of(*graph, options.detail.value_or(DrawnDetail::kInstructions));
  if (format == StageFormat::kDot) return dot;
  return svg_of(dot);
}

Status print_stage(const InspectArguments& options, Program& program, const InspectedCode& code) {
  TFAOT_ASSIGN(const std::string text, stage_text(options, code));
  if (options.output.empty()) {
    program.console.print(text);
    return {};
  }
  return write_named_file(program.files, program.absolute(options.output), text);
}

Status inspect_two(const InspectArguments& options, Program& program) {
  TFAOT_ASSIGN(const InspectedCode first, inspect_code(program, side_of(options, program, 0)));
  TFAOT_ASSIGN(const InspectedCode second, inspect_code(program, side_of(options, program, 1)));
  const std::string& other = options.other.empty() ? options.path : options.other;
  return options.html.show(program, comparison_page(first, second),
                           comparison_to_json({first, options.path}, {second, other}));
}

Status inspect_one(const InspectArguments& options, Program& program) {
  TFAOT_ASSIGN(const InspectedCode code, inspect_code(program, side_of(options, program, 0)));
  if (options.prints_stage()) return print_stage(options, program, code);
  const auto drawings = options.html.given() ? draw_stages(code) : std::vector<StageDrawing>();
  return options.html.show(program, inspection_page(code, options.path, drawings),
                           inspection_to_json(code, options.path));
}

Status run_inspect(const InspectArguments& options, Program& program) {
  TFAOT_TRY(check_inspect_options(options, program.json));
  TFAOT_TRY(options.html.check(program));
  if (!options.output.empty()) {
    TFAOT_TRY(check_output_file(program.files, "--output", program.absolute(options.output)));
  }
  return options.compares() ? inspect_two(options, program) : inspect_one(options, program);
}

void add_program_choice(CLI::App& app, InspectArguments& options) {
  add_value(app, "PATH", options.path,
            "a config, a model, a package (also AREA/NAME[/VERSION]), or a\nfolder that XLA dumped")
      ->required();
  add_value(app, "OTHER", options.other, "compare with this one");
  add_list(app, "--batch-sizes N[,M]", options.batch_sizes,
           "two are compared [a config's largest; a package's\nsmallest]");
  add_list(app, "--cpu-levels L[,K]", options.cpu_levels, "two are compared [the highest]");
  add_dimensions(app, options.request.dimensions);
  app.add_flag("--against-no-flags", options.against_no_flags,
               "compare a config with itself without its compiler flags");
  add_value(app, "--module NAME", options.request.module, "of a dump [the largest]");
  app.add_flag("--passes", options.request.passes, "show what each pass made, too");
}

}  // namespace

Action add_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectArguments>();
  add_program_choice(app, *options);
  add_value(app, "--stage NAME", options->stage,
            "print only this stage; also 'assembly', 'llvm' and\n'llvm_unoptimized' [the last]");
  add_word_option<StageFormat>(app, "--format", options->format, "of the stage [text]");
  add_word_option<DrawnDetail>(app, "--detail", options->detail,
                               "what is drawn of it [instructions]");
  add_value(app, "-o,--output FILE", options->output, "write the stage to a file");
  add_value(app, "--dump DIR", options->dump,
            "of a config: keep the files of all steps here,\nwhich 'tfaot inspect DIR' opens");
  options->html.add_to(app);
  add_allow_large(app, options->request.allow_large);
  add_engine_program(app, options->request.engine);
  app.footer(
      R"(Compiles one batch size and CPU level of a config and keeps nothing. A package keeps only the
HLO of its smallest batch size; its objects hold the assembly. Times are estimates.
Examples:
  tfaot inspect aot_config.yaml --batch-sizes 16 --html tagger.html
  tfaot inspect aot_config.yaml --stage simplified --format svg -o tagger.svg
  tfaot inspect aot_config.yaml --batch-sizes 1,64
  tfaot inspect old/tagger new/tagger
  tfaot inspect /tmp/xla_dump --module module_0004.cluster_0)");
  return [options](Program& program) { return run_inspect(*options, program); };
}

}  // namespace tfaot::toolkit
