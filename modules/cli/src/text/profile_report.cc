// SPDX-License-Identifier: Apache-2.0
#include "text/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "text/text_table.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / 1e6);
}

std::string speed_table(const ModelCurves& model) {
  std::vector<std::vector<std::string>> table = {
      {"rows", "", "us a call", "16 %", "84 %", "us a row", "times", "allocations", "run as"}};
  for (const auto& [curve, size, times] : sizes_by_rows(model)) {
    const double us = size->call.median / 1000;
    table.push_back({std::to_string(size->rows), model.labels[curve], short_number(us),
                     short_number(size->call.low / 1000), short_number(size->call.high / 1000),
                     short_number(us / static_cast<double>(size->rows)),
                     times > 0 ? fmt::format("{:.2f}", times) : "",
                     size->allocations < 0 ? "" : short_number(size->allocations), size->run_as});
  }
  return text_table(table);
}

// Of a run at another level than the curve's it says so.
std::string heap_cell(const ProfiledHeap& heap, const std::string& cpu_level) {
  if (heap.peak < 0) return "";
  return megabytes(heap.peak) + (heap.cpu_level == cpu_level ? "" : " (" + heap.cpu_level + ")");
}

std::string memory_table(const ModelCurves& model, const Profile& profile) {
  std::vector<std::vector<std::string>> table = {
      {"", "load ms", "resident MB", "proportional MB", "temporaries kB"}};
  table.push_back({"empty process", "", megabytes(profile.empty_resident),
                   megabytes(profile.empty_proportional), ""});
  if (profile.heap_tool) {
    table[0].push_back(heap_title(profile) + " MB");
    table[1].push_back(heap_cell(profile.empty_heap, ""));
  }
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    const ProfiledCurve& curve = model.curves[j];
    const bool ours = curve.engine == ProfiledEngine::kPackage;
    const ProfiledSize& last = curve.sizes.back();
    table.push_back(
        {model.labels[j], short_number(curve.load.median / 1e6), megabytes(last.resident),
         megabytes(last.proportional),
         ours ? fmt::format("{:.1f}", static_cast<double>(curve.temporaries) / 1000) : ""});
    if (profile.heap_tool) table.back().push_back(heap_cell(curve.heap, curve.cpu_level));
  }
  return text_table(table);
}

constexpr std::size_t kMostOperations = 12;  // in the text; JSON and page have all

std::string operations_text(const ProfiledOperations& operations) {
  std::vector<std::vector<std::string>> table;
  for (const ProfiledOperation& operation : operations.operations) {
    const bool last = &operation == &operations.operations.back();
    if (table.size() >= kMostOperations && !last) continue;
    const std::string inside = operation.inside.empty() ? "" : " in " + operation.inside;
    table.push_back(
        {fmt::format("{:5.1f} %", 100 * operation.share),
         operations.call == 0 ? "" : short_number(operation.share * operations.call / 1000),
         operation.category, operation.name + inside, operation.origin});
  }
  const std::size_t left_out = operations.operations.size() - table.size();
  table.insert(table.begin(), {"share", "us", "kind", "operation", "of the model"});
  std::string text = operations_title(operations) + "\n" + text_table(table);
  if (left_out > 0) text += fmt::format("... and {} more\n", left_out);
  return text;
}

}  // namespace

std::string short_number(double value) {
  if (value == 0) return "0";
  const int digits = 2 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 9));
}

std::string clock_text(ProfileClock clock) {
  return clock == ProfileClock::kWall ? "" : ", processor time";
}

std::string heap_title(const Profile& profile) {
  return fmt::format("peak heap ({})", word_of(*profile.heap_tool));
}

std::string engine_title(ProfiledEngine engine) {
  switch (engine) {
    case ProfiledEngine::kOnnxRuntime:
      return "ONNX Runtime";
    case ProfiledEngine::kLiteRt:
      return "LiteRT";
    case ProfiledEngine::kTensorFlow:
      return "TensorFlow";
    case ProfiledEngine::kPackage:
      break;
  }
  return "tfaot";
}

std::vector<std::string> curve_labels(const std::vector<ProfiledCurve>& curves) {
  std::set<std::string> levels;
  std::set<ComposeStrategy> strategies;
  std::set<std::string> models;
  std::set<std::string> sources;
  for (const ProfiledCurve& curve : curves) {
    if (curve.engine != ProfiledEngine::kPackage) continue;
    levels.insert(curve.cpu_level);
    strategies.insert(curve.strategy);
    models.insert(curve.model + " " + curve.version);
    sources.insert(curve.source);
  }
  std::vector<std::string> labels;
  for (const ProfiledCurve& curve : curves) {
    std::string label = engine_title(curve.engine);
    const bool ours = curve.engine == ProfiledEngine::kPackage;
    if (ours && sources.size() > models.size()) label += ", " + curve.source;
    if (ours && levels.size() > 1) label += ", " + curve.cpu_level;
    if (ours && strategies.size() > 1) label += fmt::format(", {}", word_of(curve.strategy));
    labels.push_back(std::move(label));
  }
  return labels;
}

// Kernels in a loop's body count as kernels, the rest of the loop as emitted.
std::string operations_title(const ProfiledOperations& operations) {
  double kernels = 0;
  for (const ProfiledOperation& operation : operations.operations) {
    if (operation.category.starts_with("kernel ")) kernels += operation.share;
  }
  const double between = operations.operations.empty() ? 0 : operations.operations.back().share;
  return fmt::format("operations of {} row{}, {}: {:.0f} % in kernels, {:.0f} % in emitted loops",
                     operations.rows, operations.rows == 1 ? "" : "s", operations.cpu_level,
                     100 * kernels, 100 * std::max(0.0, 1 - kernels - between)) +
         (operations.call > 0 ? fmt::format(" (a call that counts takes {:.1f} times as long)",
                                            operations.instrumented / operations.call)
                              : "");
}

std::string machine_text(const ProfiledMachine& machine) {
  std::vector<std::string> parts;
  if (!machine.name.empty()) parts.push_back(machine.name);
  parts.push_back(machine.cpu);
  parts.push_back(fmt::format("{} core{}, measured on core {}", machine.cores,
                              machine.cores == 1 ? "" : "s", machine.core));
  if (!machine.governor.empty()) parts.push_back("governor " + machine.governor);
  if (machine.mhz > 0) parts.push_back(fmt::format("{:.0f} MHz", machine.mhz));
  parts.push_back(fmt::format("load {:.1f}", machine.load));
  parts.push_back(fmt::format("noise {:.1f} %", 100 * machine.noise));
  return join(parts, "; ");
}

std::vector<ModelCurves> curves_by_model(const Profile& profile) {
  std::vector<ModelCurves> models;
  for (const ProfiledCurve& curve : profile.curves) {
    const std::string title = curve.model + " " + curve.version;
    auto model = std::ranges::find(models, title, &ModelCurves::title);
    if (model == models.end()) {
      models.push_back({title, {}, {}});
      model = std::prev(models.end());
    }
    model->curves.push_back(curve);
  }
  for (ModelCurves& model : models) model.labels = curve_labels(model.curves);
  return models;
}

std::vector<std::string> tuning_advice(const ModelCurves& model) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < model.curves.size(); ++i) {
    for (const BetterPlan& plan : model.curves[i].better_plans) {
      lines.push_back(fmt::format(
          "{}: {} rows run as {} in {} us, but as {} in {} us: run `tfaot tune`{}", model.labels[i],
          plan.rows, plan.run_as, short_number(plan.call.median / 1000), plan.better_as,
          short_number(plan.better.median / 1000), model.curves[i].tuned ? " again" : ""));
    }
  }
  return lines;
}

std::vector<MeasuredSize> sizes_by_rows(const ModelCurves& model) {
  std::vector<std::int64_t> all_rows;
  for (const ProfiledCurve& curve : model.curves) {
    for (const ProfiledSize& size : curve.sizes) {
      if (std::ranges::find(all_rows, size.rows) == all_rows.end()) all_rows.push_back(size.rows);
    }
  }
  std::vector<MeasuredSize> measured;
  for (const std::int64_t rows : all_rows) {
    double first = 0;
    for (std::size_t i = 0; i < model.curves.size(); ++i) {
      const auto& sizes = model.curves[i].sizes;
      const auto size = std::ranges::find(sizes, rows, &ProfiledSize::rows);
      if (size == sizes.end()) continue;
      if (first == 0) first = size->call.median;
      measured.push_back({i, &*size, first > 0 ? size->call.median / first : 0});
    }
  }
  return measured;
}

ModelCurves all_curves(const Profile& profile) {
  ModelCurves all{"", profile.curves, {}};
  const std::vector<ModelCurves> models = curves_by_model(profile);
  all.labels = curve_labels(profile.curves);
  if (models.size() < 2) return all;
  for (std::size_t i = 0; i < all.labels.size(); ++i) {
    const ProfiledCurve& curve = all.curves[i];
    all.labels[i] = fmt::format("{} {}, {}", curve.model, curve.version, all.labels[i]);
  }
  return all;
}

std::string profile_text(const Profile& profile) {
  std::string text = "machine  " + machine_text(profile.machine) + "\n";
  text += fmt::format("rounds   {} of {:.3g} ms{}; medians, and the quantiles at 16 % and 84 %\n",
                      profile.round_count, profile.round_ms, clock_text(profile.clock));
  text += "inputs   " + profile.inputs + "\n";
  for (const ModelCurves& model : curves_by_model(profile)) {
    text += fmt::format("\nmodel {}\n\n{}\n", model.title, speed_table(model));
    for (const std::string& line : tuning_advice(model)) text += "advice  " + line + "\n\n";
    text += memory_table(model, profile);
    for (const ProfiledOperations& one : profile.operations) {
      if (one.model + " " + one.version == model.title) text += "\n" + operations_text(one);
    }
  }
  return text;
}

}  // namespace tfaot::toolkit
