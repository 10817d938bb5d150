// SPDX-License-Identifier: Apache-2.0
#include "pages/inspection_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "pages/inspected_products.h"
#include "pages/memory_drawing.h"
#include "pages/page_parts.h"
#include "text/inspection_difference.h"
#include "text/inspection_report.h"
#include "tfaot/base/text.h"
#include "tfaot/inspect/graph_drawing.h"
#include "tfaot/inspect/graph_summary.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using report::Callout;
using report::Cell;
using report::ColumnKind;
using report::Figure;
using report::Listing;
using report::Section;
using report::Table;
using report::Verdict;

// Larger graphs take graphviz minutes, and browsers too much memory.
constexpr std::size_t kMostBoxes = 1500;
constexpr std::size_t kMostLines = 20'000;
constexpr std::size_t kMostLayerBars = 20;

Cell known_cell(std::int64_t number) {
  return number < 0 ? Cell{.text = "-"} : number_cell(number);
}
Cell time_cell(std::int64_t picoseconds) {
  if (picoseconds < 0) return {.text = "-"};
  return {.text = duration_text(picoseconds), .number = static_cast<double>(picoseconds)};
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
          time_cell(one.picoseconds),
          {.text = runs_text(one.runs), .number = one.runs.times},
          {.text = word_of(node.kind), .verdict = verdict_of(node.kind)},
          {node_title(node)},
          {short_origin(node.origin)},
          known_cell(one.flops),
          known_cell(one.bytes),
          {node_sizes(node)},
          {node.name}};
}

Section hot_spots_section(const HloGraph& stage) {
  Table table{.caption = "Instructions with code, by estimated time",
              .columns = {{"share", ColumnKind::kNumber},
                          {"time", ColumnKind::kNumber},
                          {"runs", ColumnKind::kNumber},
                          {"kind"},
                          {"what", ColumnKind::kCode},
                          {"from", ColumnKind::kCode},
                          {"flops", ColumnKind::kNumber},
                          {"bytes", ColumnKind::kNumber},
                          {"sizes"},
                          {"name", ColumnKind::kCode}}};
  const std::vector<CodeNode> nodes = code_nodes(stage);
  const bool has_loops = runs_vary(nodes);
  for (const CodeNode& one : nodes) {
    table.rows.push_back(hot_spot_row(one));
    if (!has_loops) table.rows.back().erase(table.rows.back().begin() + kRunsCell);
  }
  if (!has_loops) table.columns.erase(table.columns.begin() + kRunsCell);
  Section section{"Hot spots", {}, {}};
  report::Bars bars{.caption = "Estimated time by layer"};
  for (const LayerSummary& layer : layers_of(stage)) {
    if (layer.picoseconds <= 0 || bars.bars.size() == kMostLayerBars) break;
    bars.bars.push_back({layer.layer.empty() ? "(no layer)" : layer.layer,
                         static_cast<double>(layer.picoseconds), duration_text(layer.picoseconds)});
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
  for (const auto& row : kWords<NodeKind>) table.columns.push_back({row.word, ColumnKind::kNumber});
  for (const HloGraph& stage : code.stages) {
    const StageSummary summary = summary_of(stage);
    std::vector<Cell> cells = {{stage.stage}, number_cell(summary.instructions)};
    for (const auto& row : kWords<NodeKind>) {
      const auto count = summary.kinds.find(row.value);
      cells.push_back(number_cell(count == summary.kinds.end() ? 0 : count->second));
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
  Section section{"Memory", {}, {}};
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
    const auto bytes = static_cast<std::int64_t>(allocation.size);
    if (allocation.values.empty()) {
      table.rows.push_back({{word_of(allocation.use)},
                            number_cell(allocation.number),
                            {""},
                            {""},
                            known_cell(0),
                            number_cell(bytes),
                            known_cell(-1),
                            known_cell(-1)});
    }
    for (const PlacedValue& value : allocation.values) {
      table.rows.push_back({{word_of(allocation.use)},
                            number_cell(allocation.number),
                            {value.name},
                            {value.shape},
                            number_cell(static_cast<std::int64_t>(value.offset)),
                            number_cell(static_cast<std::int64_t>(value.size)),
                            known_cell(value.first),
                            known_cell(value.last)});
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
                          {"by"}}};
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
  Section section{"Code", {}, {}};
  section.blocks.emplace_back(report::Text{"Calls of kernels are marked."});
  add_listing("LLVM IR before LLVM's optimisation", code.first_llvm, section);
  add_listing("LLVM IR after it", code.llvm, section);
  add_listing("Assembly", code.assembly, section);
  return section;
}

Section overview_section(const InspectedCode& code) {
  Section section;
  section.title = "Overview";
  section.blocks.emplace_back(facts_block(inspection_facts(code)));
  for (const std::string& remark : code.remarks) {
    section.blocks.emplace_back(Callout{.text = remark});
  }
  return section;
}

Section differences_section(const InspectedCode& first, const InspectedCode& second) {
  Table table{.caption = "What differs",
              .columns = {{"of"}, {"what", ColumnKind::kCode}, {"first"}, {"second"}},
              .empty = "nothing"};
  for (const ComparedValue& one : compare_code(first, second)) {
    table.rows.push_back({{word_of(one.kind)}, {one.what}, {one.first}, {one.second}});
  }
  return {"Differences", {}, {std::move(table)}};
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
  std::uint64_t weights = 0;
  for (const WeightOrigin& weight : code.weights) weights += weight.bytes;
  if (!code.weights.empty()) {
    highlights.push_back(
        {"weights", report::bytes_text(weights), counted(code.weights.size(), "tensor")});
  }
  if (const HloGraph* const stage = last_stage(code)) {
    highlights.push_back(
        {"instructions", report::grouped_digits(summary_of(*stage).instructions), stage->stage});
  }
  return highlights;
}

}  // namespace

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

report::Page inspection_page(const InspectedCode& code, const std::vector<StageDrawing>& drawings) {
  report::Page page;
  page.kind = "inspection";
  page.title = code.name;
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
  page.summary = program_title(first) + " beside " + program_title(second);
  page.badge = is_same_code(first, second) ? report::Badge{Verdict::kGood, "same code"}
                                           : report::Badge{Verdict::kNote, "other code"};
  page.sections.push_back(differences_section(first, second));
  for (const InspectedCode* const code : {&first, &second}) {
    Section section{code == &first ? "First" : "Second", {}, {}};
    section.blocks.emplace_back(report::Text{program_title(*code)});
    section.blocks.emplace_back(facts_block(inspection_facts(*code)));
    for (const std::string& remark : code->remarks) {
      section.blocks.emplace_back(Callout{.text = remark});
    }
    if (const HloGraph* const stage = last_stage(*code)) {
      for (report::Block& block : hot_spots_section(*stage).blocks) {
        section.blocks.push_back(std::move(block));
      }
    }
    page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace tfaot::toolkit
