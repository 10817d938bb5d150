// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "pages/pages.h"
#include "tfaot/arrays/array.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;
using report::Verdict;

constexpr const char* kSame = "same";
constexpr const char* kDifferent = "DIFFERENT";

// "CPU levels"
std::string aspect_title(BitsAspect aspect) {
  return aspect == BitsAspect::kLevels ? "CPU levels" : replace_all(word_of(aspect), "_", " ");
}

Cell count_cell(std::uint64_t count) {
  return {.text = report::grouped_digits(static_cast<std::int64_t>(count)),
          .number = static_cast<double>(count)};
}

// "x86-64; x86-64-v3, x86-64-v4"
std::string levels_text(const std::vector<std::vector<std::string>>& levels) {
  return join(mapped(levels, [](const auto& group) { return join(group, ", "); }), "; ");
}

Section bits_overview(const BitsResult& result) {
  return {report::kOverview,
          {},
          {report::Facts{{{"model", result.manifest.name + " " + result.manifest.version,
                           report::Where::kText},
                          {"CPU levels", levels_text(result.levels)},
                          {"not run here", join(result.skipped_levels, ", ")},
                          {"rows", fmt::format("{}", fmt::join(result.summary.rows, ", "))},
                          {"inputs", fmt::format("{} rows, sha256 {}", result.rows,
                                                 result.summary.inputs_sha256)}}}}};
}

Section compared_section(const BitsResult& result) {
  Table table{.caption = "What was compared",
              .columns = {{"changed"},
                          {"bits"},
                          {"calls", ColumnKind::kNumber},
                          {"rows", ColumnKind::kNumber},
                          {"numbers", ColumnKind::kNumber},
                          {"differ", ColumnKind::kNumber}}};
  for (const ComparedBits& one : result.compared) {
    const bool is_same = one.unequal == 0;
    table.rows.push_back({{aspect_title(one.aspect)},
                          {.text = is_same ? kSame : kDifferent,
                           .verdict = is_same ? Verdict::kGood : Verdict::kBad},
                          count_cell(one.calls),
                          count_cell(one.rows),
                          count_cell(one.numbers),
                          count_cell(one.unequal)});
  }
  Section section{"Compared", {}, {std::move(table)}};
  for (const OtherRows one : result.endless) {
    section.blocks.emplace_back(report::Callout{
        .text = fmt::format("Rows of {} are left out: the package does not end for them.",
                            word_of(one))});
  }
  return section;
}

Section different_section(const BitsResult& result) {
  Table table{.caption = "What differs",
              .columns = {{"output", ColumnKind::kCode},
                          {"changed"},
                          {"at"},
                          {"rows", ColumnKind::kNumber},
                          {"numbers", ColumnKind::kNumber},
                          {"differ", ColumnKind::kNumber},
                          {"ULPs", ColumnKind::kNumber},
                          {"not finite", ColumnKind::kNumber},
                          {"first"}}};
  for (const DifferentBits& one : result.differences) {
    table.rows.push_back({{one.output},
                          {aspect_title(one.aspect)},
                          {one.cpu_level},
                          count_cell(one.rows),
                          count_cell(one.numbers),
                          count_cell(one.unequal),
                          count_cell(one.ulps),
                          count_cell(one.nonfinite),
                          {fmt::format("row {}: {} | {}", one.row, one.one, one.other)}});
  }
  return {"Differences", {}, {std::move(table)}};
}

// "kernel tfaot_gemm_f32 of tagger/dense/MatMul"
std::string operation_text(const DifferentOperation& one) {
  const std::string kind = one.kind.starts_with("tfaot_") ? "kernel " + one.kind : one.kind;
  return one.origin.empty() ? kind : fmt::format("{} of {}", kind, one.origin);
}

Section operations_section(const BitsResult& result) {
  if (result.operations.empty()) {
    return {"First operations",
            {},
            {report::Callout{.text = "None is named: code that returns the results of its "
                                     "operations does not differ."}}};
  }
  Table table{.caption = "The first operation that differs",
              .columns = {{"changed"},
                          {"at"},
                          {"batch", ColumnKind::kNumber},
                          {"operation", ColumnKind::kCode},
                          {"shape"},
                          {"numbers", ColumnKind::kNumber},
                          {"differ", ColumnKind::kNumber},
                          {"ULPs", ColumnKind::kNumber}}};
  for (const DifferentOperation& one : result.operations) {
    table.rows.push_back({{aspect_title(one.aspect)},
                          {one.cpu_level},
                          count_cell(static_cast<std::uint64_t>(one.size)),
                          {operation_text(one)},
                          {array_shape_text(one.shape)},
                          count_cell(one.numbers),
                          count_cell(one.unequal),
                          count_cell(one.ulps)});
  }
  return {"First operations", {}, {std::move(table)}};
}

Section hashes_section(const BitsResult& result) {
  Table table{.caption = "SHA-256 of the outputs",
              .columns = {{"CPU levels"}, {"sha256", ColumnKind::kHash}}};
  for (const LevelBits& one : result.summary.outputs) {
    table.rows.push_back({{join(one.cpu_levels, ", ")}, {one.sha256}});
  }
  return {"Hashes", {}, {std::move(table)}};
}

ordered_json level_bits_to_json(const LevelBits& one) {
  return {{"cpu_levels", one.cpu_levels}, {"sha256", one.sha256}};
}

}  // namespace

report::Page bits_page(const BitsResult& result, const std::string& package) {
  report::Page page;
  page.kind = "bits";
  page.title = result.manifest.name + " " + result.manifest.version;
  page.heading = "package " + package;
  page.badge = result.passed()
                   ? report::Badge{Verdict::kGood, "a row has the same bits however it is run"}
                   : report::Badge{Verdict::kBad, "a row's bits depend on how it is run"};
  page.summary = result.manifest.description;
  page.sections = {bits_overview(result), compared_section(result)};
  if (!result.passed()) page.sections.push_back(different_section(result));
  if (result.has_model && !result.passed()) page.sections.push_back(operations_section(result));
  page.sections.push_back(hashes_section(result));
  return page;
}

ordered_json bits_result_to_json(const BitsResult& result, const std::string& package) {
  const auto compared_to_json = [](const ComparedBits& one) -> ordered_json {
    return {{"changed", word_of(one.aspect)},
            {"calls", one.calls},
            {"rows", one.rows},
            {"numbers", one.numbers},
            {"unequal", one.unequal}};
  };
  const auto different_to_json = [](const DifferentBits& one) -> ordered_json {
    return {{"output", one.output},
            {"changed", word_of(one.aspect)},
            {"cpu_level", one.cpu_level},
            {"rows", one.rows},
            {"numbers", one.numbers},
            {"unequal", one.unequal},
            {"ulps", one.ulps},
            {"nonfinite", one.nonfinite},
            {"row", one.row},
            {"one", one.one},
            {"other", one.other}};
  };
  const auto operation_to_json = [](const DifferentOperation& one) -> ordered_json {
    return {{"changed", word_of(one.aspect)},
            {"cpu_level", one.cpu_level},
            {"size", one.size},
            {"kind", one.kind},
            {"origin", one.origin},
            {"shape", one.shape},
            {"numbers", one.numbers},
            {"unequal", one.unequal},
            {"ulps", one.ulps}};
  };
  return {{"kind", "bits"},
          {"package", package},
          {"name", result.manifest.name},
          {"version", result.manifest.version},
          {"passed", result.passed()},
          {"cpu_levels", result.levels},
          {"skipped_cpu_levels", result.skipped_levels},
          {"rows", result.summary.rows},
          {"left_out", mapped(result.endless, word_of<OtherRows>)},
          {"threads", result.summary.threads},
          {"inputs", {{"rows", result.rows}, {"sha256", result.summary.inputs_sha256}}},
          {"compared", mapped(result.compared, compared_to_json)},
          {"differences", mapped(result.differences, different_to_json)},
          {"operations", mapped(result.operations, operation_to_json)},
          {"outputs", mapped(result.summary.outputs, level_bits_to_json)}};
}

std::string bits_summary(const Manifest& manifest) {
  if (!manifest.bits) return "";
  const SameBits& bits = *manifest.bits;
  std::string text =
      fmt::format("a row has the same bits in batches of {} to {} rows, in 1 to {} threads",
                  bits.rows.front(), bits.rows.back(), bits.threads);
  for (const LevelBits& one : bits.outputs) {
    text += fmt::format("\nsha256 {}, {}", one.sha256, join(one.cpu_levels, ", "));
  }
  return text;
}

}  // namespace tfaot::toolkit
