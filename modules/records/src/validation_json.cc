// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/validation_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "manifest_rules.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;

Result<std::vector<DimensionSize>> read_sizes(const JsonReader& json, const Manifest& manifest) {
  std::vector<DimensionSize> sizes;
  for (const FreeDimension& one : sized_dimensions(manifest.dimensions)) {
    sizes.push_back({one.name, 0});
    TFAOT_TRY(json.read(one.name, sizes.back().size, &JsonReader::number));
  }
  return sizes;
}

ordered_json output_to_json(const ValidatedOutput& output) {
  const ArrayDifference& difference = output.difference;
  ordered_json json = {{"output", output.output},
                       {"inputs", word_of(output.inputs)},
                       {"cpu_level", output.cpu_level},
                       {"rows", output.rows},
                       {"composition", word_of(output.composition)},
                       {"numbers", difference.numbers},
                       {"unequal", difference.unequal},
                       {"nonfinite", difference.nonfinite},
                       {"largest", difference.largest},
                       {"mean", difference.mean},
                       {"scale", difference.scale},
                       {"relative", relative_difference(difference)},
                       {"ulps", difference.ulps},
                       {"moved", difference.moved},
                       {"allowed", output.allowed},
                       {"row", output.row},
                       {"index", output.index},
                       {"counts", output.counts},
                       {"passed", output.passed}};
  if (!output.sizes.empty()) json["sizes"] = sizes_to_json(output.sizes);
  return json;
}

Result<double> read_amount(const JsonReader& json) {
  TFAOT_ASSIGN(const double amount, json.real());
  if (amount >= 0) return amount;
  return json.failed("it is negative");
}

// Of numbers that were compared.
Result<std::uint64_t> read_part(const JsonReader& json, std::uint64_t all) {
  TFAOT_ASSIGN(const std::uint64_t part, read_size(json));
  if (part <= all) return part;
  return json.failed(fmt::format("{} of {} numbers", part, all));
}

Result<ArrayDifference> read_difference(const JsonReader& json) {
  ArrayDifference difference;
  TFAOT_TRY(json.read("numbers", difference.numbers, read_size));
  const auto part = [&](const JsonReader& one) { return read_part(one, difference.numbers); };
  TFAOT_TRY(json.read("unequal", difference.unequal, part));
  TFAOT_TRY(json.read("nonfinite", difference.nonfinite, part));
  TFAOT_TRY(json.read("largest", difference.largest, read_amount));
  TFAOT_TRY(json.read("mean", difference.mean, read_amount));
  TFAOT_TRY(json.read("scale", difference.scale, read_amount));
  TFAOT_TRY(json.read("ulps", difference.ulps, read_size));
  TFAOT_TRY(json.read_if_there("moved", difference.moved, read_amount));
  return difference;
}

Result<std::int64_t> read_rows(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t rows, json.number());
  if (rows >= 1) return rows;
  return json.failed(fmt::format("a batch has at least one row, not {}", rows));
}

// One of these.
Result<std::string> read_one_of(const JsonReader& json, const std::vector<std::string>& allowed) {
  TFAOT_ASSIGN(std::string text, json.text());
  if (contains(allowed, text)) return text;
  return json.failed(fmt::format("the package has no '{}'", shown(text)));
}

Result<std::string> read_reference(const JsonReader& json) {
  TFAOT_ASSIGN(std::string text, json.text());
  if (!text.empty() && shown(text, kLongestName) == text) return text;
  return json.failed(
      fmt::format("'{}' is not one line of at most {} letters", shown(text), kLongestName));
}

std::vector<std::string> output_names(const Manifest& manifest) {
  return mapped(manifest.signature.outputs, &TensorSpec::name);
}

// Manifests of tfaot 0.2 do not have it.
Result<double> read_allowed(const JsonReader& json, const Manifest& manifest,
                            const ValidatedOutput& output, const Tolerance& tolerance) {
  if (json.has("allowed")) return json.member("allowed").and_then(read_amount);
  const auto tensor =
      std::ranges::find(manifest.signature.outputs, output.output, &TensorSpec::name);
  return allowance(output.difference, tolerance_for(tensor->dtype, tolerance));
}

Result<ValidatedOutput> read_output(const JsonReader& json, const Manifest& manifest,
                                    const Tolerance& tolerance) {
  const auto output_name = [&](const JsonReader& one) {
    return read_one_of(one, output_names(manifest));
  };
  const auto level = [&](const JsonReader& one) { return read_one_of(one, manifest.cpu_levels); };
  ValidatedOutput output;
  TFAOT_TRY(json.read("output", output.output, output_name));
  TFAOT_TRY(json.read("inputs", output.inputs, &JsonReader::word<InputKind>));
  TFAOT_TRY(json.read("cpu_level", output.cpu_level, level));
  TFAOT_TRY(json.read("rows", output.rows, read_rows));
  TFAOT_TRY(json.read("composition", output.composition, &JsonReader::word<Composition>));
  TFAOT_ASSIGN(output.difference, read_difference(json));
  TFAOT_ASSIGN(output.allowed, read_allowed(json, manifest, output, tolerance));
  TFAOT_ASSIGN(const JsonReader row, json.member("row"));
  TFAOT_ASSIGN(output.row, row.number());
  if (output.row < 0 || output.row >= output.rows) {
    return row.failed(fmt::format("there is no row {} of {}", output.row, output.rows));
  }
  TFAOT_TRY(json.read("index", output.index, read_shape));
  TFAOT_TRY(json.read("counts", output.counts, &JsonReader::flag));
  TFAOT_TRY(json.read("passed", output.passed, &JsonReader::flag));
  const auto sizes = [&](const JsonReader& one) { return read_sizes(one, manifest); };
  TFAOT_TRY(json.read_if_there("sizes", output.sizes, sizes));
  return output;
}

Result<Tolerance> read_tolerance(const JsonReader& json) {
  Tolerance tolerance;
  TFAOT_TRY(json.read("relative", tolerance.relative, read_amount));
  TFAOT_TRY(json.read("absolute", tolerance.absolute, read_amount));
  return tolerance;
}

}  // namespace

ordered_json sizes_to_json(const std::vector<DimensionSize>& sizes) {
  ordered_json json = ordered_json::object();
  for (const DimensionSize& one : sizes) json[one.name] = one.size;
  return json;
}

ordered_json validated_outputs_to_json(const std::vector<ValidatedOutput>& outputs) {
  return mapped(outputs, output_to_json);
}

ordered_json validation_to_json(const Validation& validation) {
  ordered_json json = {
      {"reference", validation.reference},
      {"cpu_levels", validation.cpu_levels},
      {"rows", validation.rows},
      {"tolerance",
       {{"relative", validation.tolerance.relative}, {"absolute", validation.tolerance.absolute}}},
      {"outputs", validated_outputs_to_json(validation.outputs)}};
  if (!validation.sizes.empty()) json["sizes"] = mapped(validation.sizes, sizes_to_json);
  return json;
}

Result<Validation> read_validation(const JsonReader& json, const Manifest& manifest) {
  Validation validation;
  TFAOT_TRY(json.read("reference", validation.reference, read_reference));
  TFAOT_ASSIGN(const JsonReader levels, json.member("cpu_levels"));
  TFAOT_ASSIGN(validation.cpu_levels, levels.list([&](const JsonReader& one) {
    return read_one_of(one, manifest.cpu_levels);
  }));
  TFAOT_ASSIGN(const JsonReader rows, json.member("rows"));
  TFAOT_ASSIGN(validation.rows, rows.list(read_rows));
  TFAOT_TRY(json.read("tolerance", validation.tolerance, read_tolerance));
  TFAOT_ASSIGN(const JsonReader outputs, json.member("outputs"));
  TFAOT_ASSIGN(validation.outputs, outputs.list([&](const JsonReader& one) {
    return read_output(one, manifest, validation.tolerance);
  }));
  const auto sizes = [&](const JsonReader& list) {
    return list.list([&](const JsonReader& one) { return read_sizes(one, manifest); });
  };
  TFAOT_TRY(json.read_if_there("sizes", validation.sizes, sizes));
  return validation;
}

}  // namespace tfaot::toolkit
