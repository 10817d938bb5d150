// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/graph_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tfaot/base/pattern.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/inspect/graph_summary.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kLongestLabel = 44;
// A few hundred boxes take a second; thousands of long edges take minutes.
constexpr std::chrono::seconds kLayoutTime{30};

// Colours of a drawing, and what a page has instead. Each is unlike the others.
struct Colour {
  const char* hex;
  const char* variable;
};
constexpr Colour kInk = {"#1a1f26", "var(--ink)"};
constexpr Colour kLine = {"#566070", "var(--muted)"};
constexpr Colour kPlain = {"#ffffff", "var(--surface)"};
constexpr Colour kCluster = {"#eef1f5", "var(--soft)"};
constexpr Colour kKernel = {"#12652f", "var(--good)"};
constexpr Colour kKernelSoft = {"#dff3e5", "var(--good-soft)"};
constexpr Colour kFusionLine = {"#1f5fa8", "var(--note)"};
constexpr Colour kFusionSoft = {"#e6effa", "var(--note-soft)"};
constexpr Colour kSlow = {"#7a4d00", "var(--warning)"};
constexpr Colour kSlowSoft = {"#fdf0d0", "var(--warning-soft)"};
constexpr Colour kDataLine = {"#dfe3e8", "var(--line)"};

struct Look {
  const Colour& line;
  const Colour& ground;
};
Look look_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kKernel:
      return {kKernel, kKernelSoft};
    case NodeKind::kFusion:
    case NodeKind::kControl:
      return {kFusionLine, kFusionSoft};
    case NodeKind::kCall:
    case NodeKind::kProduct:
      return {kSlow, kSlowSoft};
    case NodeKind::kData:
      return {kDataLine, kPlain};
    case NodeKind::kLoop:
      break;
  }
  return {kLine, kPlain};
}

// Of a label or a name, in quotes.
std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : printable_line(text)) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return "\"" + safe + "\"";
}

std::string label(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    const std::string one = quoted(shown(line, kLongestLabel));
    text += (text.empty() ? "" : "\\n") + one.substr(1, one.size() - 2);
  }
  return "\"" + text + "\"";
}

bool is_passed_over(const HloNode& node) {
  return node.opcode == "constant" || node.opcode == "get-tuple-element";
}

// The boxes of a computation, and for each of its nodes the box that stands for it.
class Boxes {
 public:
  explicit Boxes(const HloComputation& computation) : computation_(computation) {
    for (const HloNode& node : computation.nodes) {
      if (node.opcode == "get-tuple-element" && !node.operands.empty()) {
        const auto source = stands_for_.find(node.operands.front());
        if (source != stands_for_.end()) stands_for_[node.name] = source->second;
      } else if (!is_passed_over(node)) {
        stands_for_[node.name] = node.name;
      }
    }
  }
  const HloComputation& computation() const { return computation_; }
  std::optional<std::string> of(const std::string& node) const {
    const auto found = stands_for_.find(node);
    return found == stands_for_.end() ? std::nullopt : std::make_optional(found->second);
  }

 private:
  const HloComputation& computation_;
  std::map<std::string, std::string> stands_for_;
};

bool is_drawn(const HloComputation& computation, DrawnDetail detail) {
  if (detail == DrawnDetail::kAll) return true;
  return !computation.is_fused && !computation.is_applied;
}

std::string box(const HloNode& node) {
  const Look look = look_of(node.kind);
  const std::string what = node.callee.empty() ? node.opcode : node.callee;
  const std::string name = node.kind == NodeKind::kFusion ? node.name : "";
  return fmt::format("{} [label={}, tooltip={}, color=\"{}\", fillcolor=\"{}\"];\n",
                     quoted(node.name),
                     label({name.empty() ? what : name, node.shape, short_origin(node.origin)}),
                     quoted(node.name + (node.detail.empty() ? "" : ": " + node.detail)),
                     look.line.hex, look.ground.hex);
}

std::string edges_to(const HloNode& node, const Boxes& boxes) {
  std::string text;
  std::set<std::string> drawn;
  for (const std::string& operand : node.operands) {
    const auto from = boxes.of(operand);
    if (!from || *from == node.name || !drawn.insert(*from).second) continue;
    text += fmt::format("{} -> {};\n", quoted(*from), quoted(node.name));
  }
  return text;
}

std::string head() {
  return fmt::format(
      "digraph program {{\n"
      "graph [rankdir=TB, ranksep=0.35, nodesep=0.25, bgcolor=\"transparent\", "
      "fontname=\"Helvetica\", fontsize=11, fontcolor=\"{0}\"];\n"
      "node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=11, "
      "fontcolor=\"{0}\", height=0.3, margin=\"0.12,0.06\"];\n"
      "edge [color=\"{1}\", arrowsize=0.6];\n",
      kInk.hex, kLine.hex);
}

std::string computation_text(const HloGraph& graph, const HloComputation& computation,
                             DrawnDetail detail, std::size_t number) {
  const Boxes boxes(computation);
  const bool is_entry = computation.name == graph.entry;
  std::string text;
  if (!is_entry) {
    text += fmt::format(
        "subgraph cluster_{} {{\nlabel={}; style=\"filled,rounded\"; color=\"{}\"; "
        "fillcolor=\"{}\";\n",
        number, quoted(computation.name), kDataLine.hex, kCluster.hex);
  }
  for (const HloNode& node : computation.nodes) {
    if (!is_passed_over(node)) text += box(node);
  }
  if (!is_entry) text += "}\n";
  for (const HloNode& node : computation.nodes) {
    if (is_passed_over(node)) continue;
    text += edges_to(node, boxes);
    for (const std::string& called : node.computations) {
      const auto found = std::ranges::find(graph.computations, called, &HloComputation::name);
      if (found == graph.computations.end() || !is_drawn(*found, detail)) continue;
      if (const auto root = Boxes(*found).of(found->root)) {
        text += fmt::format("{} -> {} [style=dashed, arrowhead=none];\n", quoted(*root),
                            quoted(node.name));
      }
    }
  }
  return text;
}

// Those that a node calls, and what it runs.
void add_kernels(const HloGraph& graph, const HloNode& node, std::set<std::string>& kernels) {
  if (node.kind == NodeKind::kKernel) kernels.insert(node.callee);
  std::set<std::string> run(node.computations.begin(), node.computations.end());
  for (auto one = graph.computations.rbegin(); one != graph.computations.rend(); ++one) {
    if (!run.contains(one->name)) continue;
    for (const HloNode& inner : one->nodes) {
      if (inner.kind == NodeKind::kKernel) kernels.insert(inner.callee);
      run.insert(inner.computations.begin(), inner.computations.end());
    }
  }
}

// Inputs and results of the entry stand alone; everything else belongs to a layer.
std::string layers_text(const HloGraph& graph) {
  const HloComputation* const entry = entry_of(graph);
  if (entry == nullptr) return "";
  struct Layer {
    std::int64_t instructions = 0;
    std::set<std::string> kernels;
  };
  std::map<std::string, std::set<std::string>> layers_by_node;  // a tuple shows several
  std::vector<std::string> order;
  std::map<std::string, Layer> layers;
  std::set<std::pair<std::string, std::string>> edges;
  for (const HloNode& node : entry->nodes) {
    if (node.kind == NodeKind::kData && node.opcode != "parameter") {
      // A view belongs to what it shows.
      for (const std::string& operand : node.operands) {
        const std::set<std::string> viewed = layers_by_node[operand];
        layers_by_node[node.name].insert(viewed.begin(), viewed.end());
      }
      continue;
    }
    const std::string name = node.opcode == "parameter" ? node.origin : layer_of(node.origin);
    layers_by_node[node.name] = {name};
    if (!layers.contains(name)) order.push_back(name);
    Layer& layer = layers[name];
    if (node.opcode != "parameter") ++layer.instructions;
    add_kernels(graph, node, layer.kernels);
    for (const std::string& operand : node.operands) {
      for (const std::string& from : layers_by_node[operand]) {
        if (from != name) edges.insert({from, name});
      }
    }
  }
  std::string text;
  for (const std::string& name : order) {
    const Layer& layer = layers[name];
    const Look look = look_of(!layer.kernels.empty()    ? NodeKind::kKernel
                              : layer.instructions == 0 ? NodeKind::kData
                                                        : NodeKind::kLoop);
    std::vector<std::string> lines = {name.empty() ? "(no layer)" : name};
    if (layer.instructions > 0) {
      lines.push_back(
          fmt::format("{} instruction{}", layer.instructions, layer.instructions == 1 ? "" : "s"));
    }
    lines.insert(lines.end(), layer.kernels.begin(), layer.kernels.end());
    text += fmt::format("{} [label={}, tooltip={}, color=\"{}\", fillcolor=\"{}\"];\n",
                        quoted(name), label(lines), quoted(name), look.line.hex, look.ground.hex);
  }
  for (const auto& [from, to] : edges) {
    text += fmt::format("{} -> {};\n", quoted(from), quoted(to));
  }
  return text;
}

}  // namespace

std::string dot_of(const HloGraph& graph, DrawnDetail detail) {
  std::string text = head();
  if (detail == DrawnDetail::kLayers) {
    text += layers_text(graph);
  } else {
    std::size_t number = 0;
    for (const HloComputation& computation : graph.computations) {
      if (!is_drawn(computation, detail)) continue;
      text += computation_text(graph, computation, detail, ++number);
    }
  }
  return text + "}\n";
}

std::size_t drawn_boxes(const HloGraph& graph, DrawnDetail detail) {
  std::size_t boxes = 0;
  if (detail == DrawnDetail::kLayers) {
    const HloComputation* const entry = entry_of(graph);
    if (entry == nullptr) return 0;
    boxes = static_cast<std::size_t>(
        std::ranges::count(entry->nodes, std::string("parameter"), &HloNode::opcode));
    std::set<std::string> layers;
    for (const HloNode& node : entry->nodes) {
      if (node.kind != NodeKind::kData) layers.insert(layer_of(node.origin));
    }
    return boxes + layers.size();
  }
  for (const HloComputation& computation : graph.computations) {
    if (!is_drawn(computation, detail)) continue;
    boxes += static_cast<std::size_t>(
        std::ranges::count_if(computation.nodes, std::not_fn(is_passed_over)));
  }
  return boxes;
}

Result<std::string> svg_of(const std::string& dot) {
  ProcessSpec process;
  process.program = "dot";
  process.arguments = {"-Tsvg"};
  process.standard_input = dot;
  process.timeout = kLayoutTime;
  TFAOT_ASSIGN(const ProcessResult result,
               run_tool(process, {"'dot', which lays out graphs, cannot be started",
                                  "install it (Debian: graphviz)"}));
  if (result.timed_out) {
    return fail(
        Error(fmt::format("graphviz did not lay out the graph within {} s", kLayoutTime.count()))
            .note("--format dot writes it for another program"));
  }
  if (!result.ok())
    return fail(with_last_words(Error("graphviz cannot lay out the graph"), result));
  return result.standard_output;
}

std::string with_page_colours(std::string svg) {
  for (const Colour& colour : {kInk, kLine, kPlain, kCluster, kKernel, kKernelSoft, kFusionLine,
                               kFusionSoft, kSlow, kSlowSoft, kDataLine}) {
    svg = replace_all(std::move(svg), std::string("\"") + colour.hex + "\"",
                      std::string("\"") + colour.variable + "\"");
  }
  // A page holds several drawings.
  return Pattern(R"re( id="[^"]*")re").without_matches(svg);
}

}  // namespace tfaot::toolkit
