// SPDX-License-Identifier: Apache-2.0
#include "pages/profile_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "pages/page_parts.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using report::ColumnKind;
using report::Verdict;

constexpr double kNanoseconds = 1000;  // in a microsecond

report::Cell time_cell(double ns) {
  return {.text = short_number(ns / kNanoseconds), .number = ns};
}

report::Cell memory_cell(std::int64_t bytes) {
  return {.text = report::bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0))),
          .number = static_cast<double>(bytes)};
}

report::Section machine_section(const Profile& profile) {
  const ProfiledMachine& machine = profile.machine;
  report::Section section{"Machine", {}, {}};
  if (!machine.warnings.empty()) {
    section.badge = {Verdict::kWarning, "doubtful times"};
    section.blocks.emplace_back(
        report::Callout{Verdict::kWarning, "What makes these times doubtful", machine.warnings});
  }
  section.blocks.emplace_back(report::Facts{
      {{"name", machine.name},
       {"CPU", machine.cpu},
       {"cores", std::to_string(machine.cores)},
       {"measured on", fmt::format("core {}, one thread", machine.core)},
       {"governor", machine.governor},
       {"clock", machine.mhz > 0 ? fmt::format("{:.0f} MHz", machine.mhz) : ""},
       {"load before", fmt::format("{:.2f}", machine.load)},
       {"noise", fmt::format("{:.1f} % (16 % to 84 % of the same work)", 100 * machine.noise)},
       {"rounds", fmt::format("{} of {:.3g} ms{}", profile.round_count, profile.round_ms,
                              clock_text(profile.clock))},
       {"inputs", profile.inputs}}});
  return section;
}

report::Figure figure_of(const ModelCurves& model, PlotTime time) {
  const bool of_row = time == PlotTime::kRow;
  const std::string what = of_row ? "Microseconds a row" : "Microseconds a call";
  return {.title = what + " of " + model.title,
          .caption = what +
                     ": medians, with 16 % to 84 % of the rounds as bands. Point at a dot "
                     "for its numbers.",
          .svg = report::svg_of(time_plot(model, time))};
}

report::Table times_table(const ModelCurves& model) {
  report::Table table{.caption = "Times of " + model.title,
                      .columns = {{"rows", ColumnKind::kNumber},
                                  {"engine"},
                                  {"µs a call", ColumnKind::kNumber},
                                  {"16 %", ColumnKind::kNumber},
                                  {"84 %", ColumnKind::kNumber},
                                  {"µs a row", ColumnKind::kNumber},
                                  {"over the first", ColumnKind::kNumber},
                                  {"had the core", ColumnKind::kNumber},
                                  {"allocations", ColumnKind::kNumber},
                                  {"run as"}}};
  for (const auto& [curve, size, times] : sizes_by_rows(model)) {
    report::Cell allocations;
    if (size->allocations >= 0) {
      allocations = {.text = short_number(size->allocations), .number = size->allocations};
    }
    table.rows.push_back({number_cell(size->rows),
                          {model.labels[curve]},
                          time_cell(size->call.median),
                          time_cell(size->call.low),
                          time_cell(size->call.high),
                          time_cell(size->call.median / static_cast<double>(size->rows)),
                          {.text = fmt::format("{:.2f}", times), .number = times},
                          {.text = fmt::format("{:.0f} %", 100 * size->busy), .number = size->busy},
                          std::move(allocations),
                          {size->run_as}});
  }
  return table;
}

// Of a run at another level than the curve's it says so.
report::Cell heap_cell_of(const ProfiledCurve& curve) {
  if (curve.heap.peak < 0) return {};
  report::Cell cell = memory_cell(curve.heap.peak);
  if (curve.heap.cpu_level != curve.cpu_level) cell.text += " (" + curve.heap.cpu_level + ")";
  return cell;
}

report::Table memory_table_of(const ModelCurves& model, const Profile& profile) {
  report::Table table{.caption = "Memory of a process, and the time to load",
                      .columns = {{"engine"},
                                  {"load ms", ColumnKind::kNumber},
                                  {"resident", ColumnKind::kNumber},
                                  {"proportional", ColumnKind::kNumber},
                                  {"temporaries", ColumnKind::kNumber}}};
  table.rows.push_back({{"empty process"},
                        {},
                        memory_cell(profile.empty_resident),
                        memory_cell(profile.empty_proportional),
                        {}});
  if (profile.heap_tool) {
    table.columns.push_back({heap_title(profile), ColumnKind::kNumber});
    table.rows.back().push_back(memory_cell(profile.empty_heap.peak));
  }
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    const ProfiledCurve& curve = model.curves[j];
    report::Cell temporaries;
    if (curve.engine == ProfiledEngine::kPackage) temporaries = memory_cell(curve.temporaries);
    const ProfiledSize& last = curve.sizes.back();
    table.rows.push_back(
        {{model.labels[j]},
         {.text = short_number(curve.load.median / 1e6), .number = curve.load.median},
         memory_cell(last.resident),
         memory_cell(last.proportional),
         std::move(temporaries)});
    if (profile.heap_tool) table.rows.back().push_back(heap_cell_of(curve));
  }
  return table;
}

// The process's memory as it ran more and more rows.
report::Plot memory_plot(const ModelCurves& model) {
  report::Plot plot;
  plot.x.title = "rows";
  plot.y.title = "proportional MB";
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    report::PlotCurve& curve = plot.curves.emplace_back();
    curve.name = model.labels[j];
    for (const ProfiledSize& size : model.curves[j].sizes) {
      const double megabytes = static_cast<double>(size.proportional) / 1e6;
      curve.points.push_back({static_cast<double>(size.rows), megabytes, megabytes, megabytes});
    }
  }
  return plot;
}

report::Plot heap_plot(const ModelCurves& model) {
  report::Plot plot;
  plot.x = {"ms", report::Scale::kLinear};
  plot.y.title = "heap kB";
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    report::PlotCurve& curve = plot.curves.emplace_back();
    curve.name = model.labels[j];
    for (const HeapMoment& moment : model.curves[j].heap.over_time) {
      const double kilobytes = static_cast<double>(moment.bytes) / 1000;
      curve.points.push_back({moment.ms, kilobytes, kilobytes, kilobytes});
    }
  }
  return plot;
}

report::Table operations_table(const ProfiledOperations& operations) {
  report::Table table{.caption = operations_title(operations),
                      .columns = {{"share", ColumnKind::kNumber},
                                  {"µs", ColumnKind::kNumber},
                                  {"kind", ColumnKind::kCode},
                                  {"operation", ColumnKind::kCode},
                                  {"inside", ColumnKind::kCode},
                                  {"of the model", ColumnKind::kCode}}};
  for (const ProfiledOperation& operation : operations.operations) {
    report::Cell time;
    if (operations.call > 0) time = time_cell(operation.share * operations.call);
    table.rows.push_back({{.text = fmt::format("{:.1f} %", 100 * operation.share),
                           .number = operation.share,
                           .share = operation.share},
                          std::move(time),
                          {operation.category},
                          {operation.name},
                          {operation.inside},
                          {operation.origin}});
  }
  return table;
}

report::Section model_section(const ModelCurves& model, const Profile& profile) {
  report::Section section{model.title, {}, {}};
  section.blocks.emplace_back(figure_of(model, PlotTime::kCall));
  section.blocks.emplace_back(figure_of(model, PlotTime::kRow));
  section.blocks.emplace_back(times_table(model));
  if (std::vector<std::string> advice = tuning_advice(model); !advice.empty()) {
    section.blocks.emplace_back(report::Callout{
        Verdict::kNote, "The package runs some batches slower than it could", std::move(advice)});
  }
  section.blocks.emplace_back(memory_table_of(model, profile));
  section.blocks.emplace_back(report::Figure{
      .title = "Memory of " + model.title,
      .caption = "Memory of the process after predictions of so many rows, in this order; pages "
                 "that processes share are divided by their number.",
      .svg = report::svg_of(memory_plot(model))});
  if (profile.heap_tool) {
    section.blocks.emplace_back(report::Figure{
        .title = "Heap of " + model.title + " over time",
        .caption = fmt::format("What the process had asked the allocator for and not given back, "
                               "by {}: it loads, and then predicts these numbers of rows one after "
                               "the other. Below that tool it is slower.",
                               word_of(*profile.heap_tool)),
        .svg = report::svg_of(heap_plot(model))});
  }
  for (const ProfiledOperations& one : profile.operations) {
    if (one.model + " " + one.version == model.title) {
      section.blocks.emplace_back(operations_table(one));
    }
  }
  return section;
}

// The number of rows with the fastest row.
report::Highlight highlight_of(const ModelCurves& model, const std::string& where) {
  const auto row_time = [](const ProfiledSize& size) {
    return size.call.median / static_cast<double>(size.rows);
  };
  const ProfiledSize& fastest = *std::ranges::min_element(model.curves.front().sizes, {}, row_time);
  return {model.title + where, short_number(row_time(fastest) / kNanoseconds) + " µs a row",
          fmt::format("{}, {}", model.labels.front(),
                      counted(static_cast<std::size_t>(fastest.rows), "row"))};
}

// "181 times as fast as TensorFlow for 1 row": the first curve beside those of other engines, at
// the smallest number of rows that both have.
std::vector<std::string> comparisons_of(const ModelCurves& model) {
  std::vector<std::string> lines;
  const ProfiledCurve& first = model.curves.front();
  for (std::size_t j = 1; j < model.curves.size(); ++j) {
    const ProfiledCurve& other = model.curves[j];
    if (other.engine == first.engine) continue;
    for (const ProfiledSize& size : other.sizes) {
      const auto same = std::ranges::find(first.sizes, size.rows, &ProfiledSize::rows);
      if (same == first.sizes.end()) continue;
      lines.push_back(fmt::format(
          "{} times as fast as {} for {}", short_number(size.call.median / same->call.median),
          model.labels[j], counted(static_cast<std::size_t>(size.rows), "row")));
      break;
    }
  }
  return lines;
}

}  // namespace

report::Plot time_plot(const ModelCurves& model, PlotTime time, PlotErrors errors) {
  report::Plot plot;
  plot.x.title = "rows of a call";
  plot.y.title = time == PlotTime::kRow ? "µs a row" : "µs a call";
  plot.uncertainty =
      errors == PlotErrors::kBars ? report::Uncertainty::kBars : report::Uncertainty::kBand;
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    report::PlotCurve& curve = plot.curves.emplace_back();
    curve.name = model.labels[j];
    for (const ProfiledSize& size : model.curves[j].sizes) {
      const auto rows = static_cast<double>(size.rows);
      const double unit = kNanoseconds * (time == PlotTime::kRow ? rows : 1);
      curve.points.push_back(
          {rows, size.call.median / unit, size.call.low / unit, size.call.high / unit});
    }
  }
  return plot;
}

report::Page profile_page(const std::vector<Profile>& profiles) {
  report::Page page;
  page.kind = "profile";
  bool doubtful = false;
  std::vector<report::Section> machines;
  for (const Profile& profile : profiles) {
    const std::string where = profiles.size() < 2 ? "" : " on " + profile.machine.name;
    const std::vector<ModelCurves> models = curves_by_model(profile);
    if (page.title.empty()) {
      page.title = models.size() == 1 ? models.front().title : counted(models.size(), "model");
      page.summary = machine_text(profile.machine);
    }
    doubtful = doubtful || !profile.machine.warnings.empty();
    for (const ModelCurves& model : models) {
      page.highlights.push_back(highlight_of(model, where));
      for (const std::string& line : comparisons_of(model)) {
        page.highlights.push_back({model.labels.front() + where, line, model.title});
      }
      page.sections.push_back(model_section(model, profile));
      page.sections.back().title += where;
    }
    machines.push_back(machine_section(profile));
    machines.back().title += where.empty() ? "" : " " + profile.machine.name;
  }
  if (profiles.size() > 1) page.summary = counted(profiles.size(), "machine");
  page.badge = {doubtful ? Verdict::kWarning : Verdict::kNone, "doubtful times"};
  page.sections.insert(page.sections.end(), machines.begin(), machines.end());
  return page;
}

}  // namespace tfaot::toolkit
