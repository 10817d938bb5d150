// SPDX-License-Identifier: Apache-2.0
#include "text/reports.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/text_table.h"
#include "text/tuning_tables.h"
#include "tfaot/base/text.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

void add_size(Rows& rows, const SizeCost& cost) {
  rows.push_back({fmt::format("  {}", cost.size), microseconds(cost.ns),
                  microseconds(cost.ns / static_cast<double>(cost.size)),
                  std::to_string(cost.bytes),
                  cost.compiled ? "compiled, measured" : "not compiled, both estimated"});
}

std::string numbers(const std::vector<SizeCost>& sizes) {
  std::vector<std::string> words;
  for (const SizeCost& cost : sizes) words.push_back(std::to_string(cost.size));
  return join(words, ", ");
}

void add_set(Rows& rows, const std::string& label, const SizeSet& set) {
  rows.push_back({"  " + label, microseconds(set.ns), microseconds(set.row_ns),
                  std::to_string(set.bytes), numbers(set.sizes)});
}

// "12 objects, 9 from the cache"
std::string objects_text(const ModelTree& made) {
  std::string text = fmt::format("{} object{}", made.objects, made.objects == 1 ? "" : "s");
  if (made.cached_objects > 0) text += fmt::format(", {} from the cache", made.cached_objects);
  return text;
}

ordered_json set_json(const SizeSet& set) {
  ordered_json sizes = ordered_json::array();
  for (const SizeCost& cost : set.sizes) {
    sizes.push_back({{"batch_size", cost.size},
                     {"ns", cost.ns},
                     {"bytes", cost.bytes},
                     {"compiled", cost.compiled}});
  }
  return {{"ns", set.ns}, {"row_ns", set.row_ns}, {"bytes", set.bytes}, {"sizes", sizes}};
}

std::string describe_sizes(const ConvertedModel& converted, bool whole) {
  if (converted.constants == 0) {
    return fmt::format("objects: {} bytes, {}", converted.bytes_after,
                       whole ? "unchanged" : "with no weights that can be shared");
  }
  return fmt::format("objects: {} bytes before, {} after; {} blocks of weights, stored as {}",
                     converted.bytes_before, converted.bytes_after, converted.constants,
                     converted.distinct_constants);
}

constexpr const char* kHint = R"(
  Does your code include PhysicsTools/TensorFlowAOT/interface/*.h of CMSSW? Then compile
  the model with --headers cmssw.
)";

constexpr const char* kOutside =
    R"(     The second again after each compilation: the folder is outside of CMSSW_BASE, where scram does
     not notice that the model changed.
)";

}  // namespace

ordered_json made_json(const std::string& kind, const Path& path, const Manifest& manifest) {
  return {{"kind", kind},
          {"path", path.string()},
          {"name", manifest.name},
          {"version", manifest.version},
          {"tool_name", manifest.tool_name}};
}

ordered_json compiled_json(const ModelTree& made, const Path& output) {
  ordered_json json = made_json("tree", output, made.manifest);
  json["cpp_class"] = made.manifest.cpp_class;
  json["batch_sizes"] = made.manifest.batch_sizes;
  json["cpu_levels"] = made.manifest.cpu_levels;
  json["objects"] = made.objects;
  json["cached_objects"] = made.cached_objects;
  return json;
}

ordered_json converted_json(const ConvertedPackage& made, const ConvertRequest& request) {
  ordered_json json = made_json("tree", request.output_directory, made.manifest);
  json["batch_sizes"] = made.manifest.batch_sizes;
  json["bytes_before"] = made.model.bytes_before;
  json["bytes_after"] = made.model.bytes_after;
  return json;
}

ordered_json installed_json(const InstalledArchive& installed) {
  const InstallReceipt& receipt = installed.receipt;
  ordered_json json = {{"tool_name", receipt.tool_name},
                       {"version", receipt.version},
                       {"path", receipt.destination.string()},
                       {"tool_file", receipt.tool_file.string()},
                       {"unchanged", receipt.unchanged},
                       {"made_current", receipt.replaced_version.has_value()},
                       {"scram_reads_again", installed.scram_step == ScramStep::kBuild}};
  json["replaced_version"] = nullptr;
  if (!receipt.replaced_version.value_or("").empty()) {
    json["replaced_version"] = *receipt.replaced_version;
  }
  return json;
}

ordered_json tuning_json(const Manifest& manifest) {
  return ordered_json::parse(manifest_to_json(manifest))["tuning"];
}

ordered_json suggestion_json(const Suggestion& suggestion) {
  return {{"kind", "suggestion"},
          {"cpu_level", suggestion.cpu_level},
          {"suggested", set_json(suggestion.suggested)},
          {"compiled", set_json(suggestion.compiled)}};
}

std::string compiled_text(const ModelTree& made, const Path& output) {
  const Manifest& manifest = made.manifest;
  return fmt::format("compiled model '{}' for batch sizes {} and CPU levels {} into {}\n{}\n",
                     manifest.name, fmt::join(manifest.batch_sizes, ","),
                     join(manifest.cpu_levels, ","), output.string(), objects_text(made));
}

std::string next_steps_text(const NextSteps& steps) {
  return fmt::format(R"(
{:-<80}

successfully AOT compiled model '{}' for batch sizes: {}

  1. register it and its runtime to scram:
     > scram setup {}
     > scram setup {}
{}
  2. 'use' the tool at the top of your BuildFile.xml:
{}     <use name="{}"/>

  3. include the following header in your code:
     #include "{}/model.h"

  4. create an AOT model instance via:
     auto model = tfaot::Model<{}>();
{}
)",
                     "", steps.model_name, fmt::join(steps.batch_sizes, ","),
                     shell_quoted(steps.runtime_tool_file), shell_quoted(steps.tool_file),
                     steps.is_in_cmssw ? "" : kOutside,
                     steps.uses_cmssw ? "     <use name=\"PhysicsTools/TensorFlowAOT\"/>\n" : "",
                     steps.tool_name, steps.tool_name, steps.cpp_class,
                     steps.is_in_cmssw && !steps.uses_cmssw ? kHint : "");
}

std::string converted_text(const ConvertedPackage& made, const ConvertRequest& request) {
  std::string alone;
  for (const LoneConstants& block : made.model.alone) {
    alone += fmt::format("{} has {} bytes that no other object has\n", block.object, block.size);
  }
  return fmt::format("converted model '{}' for batch sizes {} into {}\n{}\n{}", made.manifest.name,
                     fmt::join(made.manifest.batch_sizes, ","), request.output_directory.string(),
                     describe_sizes(made.model, !request.share_weights), alone);
}

std::string installed_text(const InstalledArchive& installed, const Path& area) {
  const InstallReceipt& receipt = installed.receipt;
  const bool made_current = receipt.unchanged && receipt.replaced_version;
  const char* const word = made_current        ? "made current"
                           : receipt.unchanged ? "unchanged"
                                               : "installed";
  std::string text = fmt::format("{} {} {} {}", word, receipt.tool_name, receipt.version,
                                 receipt.destination.string());
  if (made_current && !receipt.replaced_version->empty()) {
    text += fmt::format(" (was {})", *receipt.replaced_version);
  }
  text += "\n";
  if (!receipt.tool_file.empty()) {
    text += fmt::format("  tool file {}\n", receipt.tool_file.string());
  }
  if (installed.scram_step == ScramStep::kSetUp) {
    text += fmt::format("  next, in {}:\n    scram setup {}\n    scram setup {}\n", area.string(),
                        kRuntimeToolName, lower_case(receipt.tool_name));
  }
  if (installed.scram_step == ScramStep::kBuild) {
    text += fmt::format(
        "  next: 'scram b' in {}, which reads the new tool file\n"
        "  in developer areas made before: scram setup {}\n",
        area.string(), receipt.tool_file.string());
  }
  return text;
}

std::string tuning_text(const Manifest& manifest) {
  Rows costs = {{"  CPU level", "batch size", "us/call", "us/row", "95 % interval", "timings"}};
  for (const TunedCall& call : calls_by_level(*manifest.tuning)) {
    costs.push_back({"  " + call.cpu_level, std::to_string(call.batch_size), microseconds(call.ns),
                     microseconds(call.ns / static_cast<double>(call.batch_size)),
                     microseconds(call.low) + " to " + microseconds(call.high),
                     std::to_string(call.repeats)});
  }
  std::string measured = fmt::format("measured on {}\n{}", manifest.tuning->cpu, text_table(costs));
  const ShownPlans shown = shown_plans(manifest);
  if (shown.plans.empty()) return measured;
  Rows plans = {{"  rows", "us/call", "us/row", "run as"}};
  for (const ShownPlan& plan : shown.plans) {
    plans.push_back({fmt::format("  {}", plan.rows), microseconds(plan.ns),
                     microseconds(plan.ns / static_cast<double>(plan.rows)), plan.run_as});
  }
  return fmt::format("{}\nwith CPU level {}\n{}", measured, shown.cpu_level, text_table(plans));
}

std::string suggestion_text(const Suggestion& suggestion) {
  Rows sizes = {{"  batch size", "us/call", "us/row", "bytes", ""}};
  for (const SizeCost& cost : suggestion.suggested.sizes) add_size(sizes, cost);
  Rows sets = {{"", "us/call", "us/row", "bytes", "batch sizes"}};
  add_set(sets, "suggested", suggestion.suggested);
  add_set(sets, "compiled now", suggestion.compiled);
  return fmt::format(
      "by the costs of CPU level {}\n{}\non average\n{}\ncompilation:\n  batch_sizes: [{}]\n",
      suggestion.cpu_level, text_table(sizes), text_table(sets),
      numbers(suggestion.suggested.sizes));
}

}  // namespace tfaot::toolkit
