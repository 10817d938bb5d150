// SPDX-License-Identifier: Apache-2.0
#include "text/validation_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/text_table.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/validation_json.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kReasonLength = 300;

bool differs_at_all(const ArrayDifference& difference) { return difference.unequal > 0; }

std::string outputs_table(const std::vector<ValidatedOutput>& outputs) {
  Rows table = {{"  output", "inputs", "predictions", "of allowed", "largest", "mean", "relative",
                 "ULPs", "not finite", "where"}};
  for (const ValidatedOutput& one : outputs) {
    const ArrayDifference& difference = one.difference;
    table.push_back({"  " + shown(one.output), word_of(one.inputs), outcome_text(one),
                     allowed_text(one), amount_text(difference.largest),
                     amount_text(difference.mean), amount_text(relative_difference(difference)),
                     std::to_string(difference.ulps), std::to_string(difference.nonfinite),
                     shown(place_text(one))});
  }
  return text_table(table);
}

// Names of the outputs that a file of saved ones lacks.
std::vector<std::string> not_compared(const ValidationResult& result) {
  std::vector<std::string> names;
  for (const TensorSpec& output : result.manifest.signature.outputs) {
    const auto found = std::ranges::find(result.outputs, output.name, &ValidatedOutput::output);
    if (found == result.outputs.end()) names.push_back(output.name);
  }
  return names;
}

std::string levels_text(const ValidationResult& result) {
  std::string text = join(result.summary.cpu_levels, ", ");
  if (!result.skipped_levels.empty()) {
    text += fmt::format("; not {}, which this CPU cannot run", join(result.skipped_levels, ", "));
  }
  return text;
}

}  // namespace

std::string amount_text(double amount) { return amount == 0 ? "0" : fmt::format("{:.2g}", amount); }

std::string place_text(const ValidatedOutput& output) {
  if (!differs_at_all(output.difference)) return "";
  const std::string index =
      output.index.empty() ? "" : fmt::format(", [{}]", fmt::join(output.index, ", "));
  return fmt::format("{}, batch of {} ({}), row {}{}", output.cpu_level, output.rows,
                     word_of(output.composition), output.row, index);
}

std::string allowed_text(const ValidatedOutput& output) {
  const double percent = 100 * share_of_allowed(output);
  return percent == 0 ? "0 %" : percent < 1000 ? fmt::format("{:.2g} %", percent) : "> 999 %";
}

std::vector<std::string> moves_lines(const std::vector<ValidatedOutput>& outputs) {
  std::vector<std::string> lines;
  for (const ValidatedOutput& one : outputs) {
    if (one.difference.moved == 0) continue;
    lines.push_back(fmt::format(
        "{}, {}: the tolerance is too small, so the model's own rounding decides: it moves by {} "
        "if its inputs move to their neighbouring numbers",
        shown(one.output), word_of(one.inputs), amount_text(one.difference.moved)));
  }
  return lines;
}

std::string outcome_text(const ValidatedOutput& output) {
  if (output.passed) return differs_at_all(output.difference) ? "agree" : "are equal";
  return output.counts ? "DIFFER" : "differ, do not count";
}

std::string tolerance_text(const Tolerance& tolerance) {
  return fmt::format("{:g} of the output's largest number, plus {:g}", tolerance.relative,
                     tolerance.absolute);
}

std::string reference_text(const ValidationResult& result) {
  if (result.is_saved) return result.summary.reference + ", saved predictions";
  return fmt::format("{}, with {}", result.summary.reference,
                     result.is_its_source ? "the model that the package was made from"
                                          : "another model than the package was made from");
}

std::string not_compared_text(const ValidationResult& result) {
  std::vector<std::string> names;
  for (const std::string& name : not_compared(result)) names.push_back(shown(name));
  if (names.empty()) return "";
  return fmt::format("{}: not in {}", join(names, ", "), result.summary.reference);
}

std::string validation_text(const ValidationResult& result, const ValidatedPaths& paths) {
  const Manifest& manifest = result.manifest;
  std::string text = fmt::format(
      "package {}: {}\n", paths.package,
      result.passed() ? "predicts as the model does" : "does not predict as the model does");
  Rows facts = {{"  model", fmt::format("{} {}", shown(manifest.name), shown(manifest.version))},
                {"  reference", reference_text(result)},
                {"  CPU levels", levels_text(result)},
                {"  rows", fmt::format("{}", fmt::join(result.summary.rows, ", "))},
                {"  tolerance", tolerance_text(result.summary.tolerance)}};
  const std::string not_compared = not_compared_text(result);
  if (!not_compared.empty()) facts.push_back({"  not compared", not_compared});
  text += text_table(facts);
  text += "\n" + outputs_table(result.summary.outputs);
  for (const std::string& line : moves_lines(result.summary.outputs)) text += "\n  " + line + "\n";
  for (const RefusedInputs& refused : result.refused) {
    text += fmt::format("\n  left out: inputs '{}', which the model does not take\n    {}\n",
                        word_of(refused.inputs), shown(refused.why, kReasonLength));
  }
  return text;
}

ordered_json validation_result_to_json(const ValidationResult& result,
                                       const ValidatedPaths& paths) {
  ordered_json refused = ordered_json::array();
  for (const RefusedInputs& one : result.refused) {
    refused.push_back({{"inputs", word_of(one.inputs)}, {"rows", one.rows}, {"why", one.why}});
  }
  ordered_json json = {{"kind", "validation"},
                       {"package", paths.package},
                       {"model", paths.model},
                       {"name", result.manifest.name},
                       {"version", result.manifest.version},
                       {"passed", result.passed()},
                       {"format", word_of(result.format)},
                       {"same_model", result.is_its_source}};
  json.update(validation_to_json(result.summary));
  json["skipped_cpu_levels"] = result.skipped_levels;
  json["not_compared"] = not_compared(result);
  json["refused"] = std::move(refused);
  json["batches"] = validated_outputs_to_json(result.outputs);
  return json;
}

std::string validation_summary(const Manifest& manifest) {
  if (!manifest.validation) return "";
  const Validation& validation = *manifest.validation;
  const ValidatedOutput* worst = nullptr;
  for (const ValidatedOutput& one : validation.outputs) {
    if (!one.counts) continue;
    if (worst == nullptr || is_worse(one, *worst)) worst = &one;
  }
  std::string text = fmt::format("predicts as {} does", validation.reference);
  if (worst != nullptr) {
    text += fmt::format(
        "\nworst difference: {} of what is allowed, {} (relative {}), output {}, inputs {}",
        allowed_text(*worst), amount_text(worst->difference.largest),
        amount_text(relative_difference(worst->difference)), worst->output, word_of(worst->inputs));
  }
  return text + fmt::format("\nrows {}, {}", fmt::join(validation.rows, ", "),
                            join(validation.cpu_levels, ", "));
}

}  // namespace tfaot::toolkit
