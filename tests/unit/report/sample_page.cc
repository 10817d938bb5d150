// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/report/sample_page.h"

#include "tfaot/report/plot.h"

namespace tfaot::toolkit::report::testing {
namespace {

constexpr const char* kDrawing = R"svg(<?xml version="1.0"?>
<svg viewBox="0 0 300 120" width="300" height="120">
  <rect x="10" y="10" width="120" height="40" fill="var(--soft)" stroke="var(--line)"/>
  <text x="20" y="35" fill="currentColor">dense_1</text>
  <path d="M70 50 V90 H240" fill="none" stroke="var(--series-1)" stroke-width="2"/>
</svg>
)svg";

Table table_of_all_kinds(const std::string& text) {
  Table table{.caption = "Operations " + text,
              .columns = {{"operation", ColumnKind::kCode},
                          {"verdict"},
                          {"nodes", ColumnKind::kNumber},
                          {"sha256", ColumnKind::kHash}}};
  const std::string long_name = "model/transformer_block_17/multi_head_attention/query/MatMul";
  const std::vector<std::string> names = {"MatMul", "Relu", "Softmax", "Einsum", long_name};
  for (std::size_t i = 0; i < 10; ++i) {
    const double count = static_cast<double>((i * 7 + 3) % 11) * 1000;
    table.rows.push_back(
        {{names[i % names.size()] + text},
         {.text = i == 4 ? "refused" : "own kernel",
          .verdict = i == 4 ? Verdict::kBad : Verdict::kGood},
         {.text = std::to_string(static_cast<int>(count)), .number = count, .share = count / 10000},
         {std::string(64, 'a')}});
  }
  table.rows[2][1] = {.text = "random", .verdict = Verdict::kWarning};
  table.rows[3][1] = {.text = "not seen", .verdict = Verdict::kNote};
  return table;
}

Page page_with(const std::string& text) {
  Page page;
  page.kind = "sample" + text;
  page.title = "Every block" + text;
  page.badge = {Verdict::kWarning, "1 warning" + text};
  page.summary = "What a page can show." + text;
  page.highlights = {{"parameters", "12 345 678", "of the largest signature" + text},
                     {"flops a row", "24.7 M" + text, ""},
                     {"operations", "42"}};
  page.sections = {
      {"Overview" + text,
       {Verdict::kGood, "ok" + text},
       {Text{"A paragraph." + text},
        Facts{{{"model" + text, "tagger" + text}, {"empty", ""}, {"notes", "two\nlines"}}}}},
      {"Problems",
       {Verdict::kBad, "2 problems"},
       {Callout{Verdict::kBad, "Node 'x' cannot be compiled." + text, {"because" + text, "so"}},
        Callout{Verdict::kWarning, "Rows may mix."}, Callout{Verdict::kNote, "Run 'tfaot tune'."},
        Callout{Verdict::kGood, "The rest is fine."}}},
      {"Tables",
       {},
       {table_of_all_kinds(text), Table{"Nothing" + text, {{"a"}}, {}, "no rows" + text}}},
      {"Charts",
       {},
       {Bars{"Code" + text,
             {"x86-64" + text, "x86-64-v3"},
             {{"batch 1" + text, 1000, "1.0 kB" + text, 0},
              {"batch 1" + text, 2500, "2.5 kB", 1},
              {"batch 64", 0, "0 bytes", 0},
              {"batch 64", 10000, "10.0 kB", 1}}},
        Bars{"One series", {}, {{"MatMul", 3, "3"}, {"Relu", 2, "2"}}},
        Figure{"A graph" + text, "Drawn by a test." + text, kDrawing},
        Figure{.title = "A large graph", .svg = kDrawing, .zoomable = true},
        Figure{.title = "A folded graph" + text, .svg = kDrawing, .folded = true},
        Link{"Another site" + text, "https://example.org/?a=\"b" + text},
        Figure{.title = "A plot",
               .svg = svg_of({.x = {"rows" + text},
                              .y = {"µs"},
                              .curves = {{"net" + text, {{1, 2, 1, 3}, {8, 9, 8, 12}}}}})}}},
      {"Code",
       {},
       {Listing{"entry.s" + text, "mov rax, 1\n<call> tfaot_gemm" + text + "\nret\n", true, {2}},
        Listing{"folded", "one line\n"}}},
      {"Code", {}, {Text{"A second section of this name."}}}};
  page.data = R"({"kind": "sample", "text": "a < b \\u003c \u003c/script>"})";
  page.command = "tfaot sample" + text;
  page.toolkit_version = "1.2.3";
  return page;
}

}  // namespace

Page sample_page() { return page_with(""); }
Page hostile_page() {
  Page page = page_with(kHostile);
  page.data = R"({"text": "</script><!-- <img src=x onerror=\"hostile=1\">"})";
  return page;
}

}  // namespace tfaot::toolkit::report::testing
