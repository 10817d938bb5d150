// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/validation_json.h"

#include "manifest_rules.h"
#include "tfaot/base/limits.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;

ordered_json output_to_json(const ValidatedOutput& output) {
  const ArrayDifference& difference = output.difference;
  return {{"output", output.output},
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
          {"row", output.row},
          {"index", output.index},
          {"counts", output.counts},
          {"passed", output.passed}};
}

Result<double> read_amount(const JsonReader& json) {
  TFAOT_ASSIGN(const double amount, json.real());
  if (amount >= 0) return amount;
  return json.failed("it is negative");
}

Result<ArrayDifference> read_difference(const JsonReader& json) {
  ArrayDifference difference;
  TFAOT_ASSIGN(difference.numbers, json.member("numbers").and_then(read_size));
  TFAOT_ASSIGN(difference.unequal, json.member("unequal").and_then(read_size));
  TFAOT_ASSIGN(difference.nonfinite, json.member("nonfinite").and_then(read_size));
  TFAOT_ASSIGN(difference.largest, json.member("largest").and_then(read_amount));
  TFAOT_ASSIGN(difference.mean, json.member("mean").and_then(read_amount));
  TFAOT_ASSIGN(difference.scale, json.member("scale").and_then(read_amount));
  TFAOT_ASSIGN(difference.ulps, json.member("ulps").and_then(read_size));
  return difference;
}

Result<ValidatedOutput> read_output(const JsonReader& json) {
  ValidatedOutput output;
  TFAOT_ASSIGN(output.output, json.member("output").and_then(&JsonReader::text));
  TFAOT_ASSIGN(output.inputs, json.member("inputs").and_then(&JsonReader::word<InputKind>));
  TFAOT_ASSIGN(output.cpu_level, json.member("cpu_level").and_then(&JsonReader::text));
  TFAOT_ASSIGN(output.rows, json.member("rows").and_then(&JsonReader::number));
  TFAOT_ASSIGN(output.composition,
               json.member("composition").and_then(&JsonReader::word<Composition>));
  TFAOT_ASSIGN(output.difference, read_difference(json));
  TFAOT_ASSIGN(output.row, json.member("row").and_then(&JsonReader::number));
  TFAOT_ASSIGN(output.index, json.member("index").and_then(read_shape));
  TFAOT_ASSIGN(output.counts, json.member("counts").and_then(&JsonReader::flag));
  TFAOT_ASSIGN(output.passed, json.member("passed").and_then(&JsonReader::flag));
  return output;
}

Result<Tolerance> read_tolerance(const JsonReader& json) {
  Tolerance tolerance;
  TFAOT_ASSIGN(tolerance.relative, json.member("relative").and_then(read_amount));
  TFAOT_ASSIGN(tolerance.absolute, json.member("absolute").and_then(read_amount));
  return tolerance;
}

}  // namespace

ordered_json validated_outputs_to_json(const std::vector<ValidatedOutput>& outputs) {
  ordered_json list = ordered_json::array();
  for (const ValidatedOutput& output : outputs) list.push_back(output_to_json(output));
  return list;
}

ordered_json validation_to_json(const Validation& validation) {
  return {
      {"reference", validation.reference},
      {"cpu_levels", validation.cpu_levels},
      {"rows", validation.rows},
      {"tolerance",
       {{"relative", validation.tolerance.relative}, {"absolute", validation.tolerance.absolute}}},
      {"outputs", validated_outputs_to_json(validation.outputs)}};
}

Result<Validation> read_validation(const JsonReader& json) {
  Validation validation;
  TFAOT_ASSIGN(validation.reference, json.member("reference").and_then(&JsonReader::text));
  TFAOT_ASSIGN(validation.cpu_levels, json.member("cpu_levels").and_then(read_texts));
  TFAOT_ASSIGN(const JsonReader rows, json.member("rows"));
  TFAOT_ASSIGN(validation.rows, rows.list([](const JsonReader& one) { return one.number(); }));
  TFAOT_ASSIGN(validation.tolerance, json.member("tolerance").and_then(read_tolerance));
  TFAOT_ASSIGN(const JsonReader outputs, json.member("outputs"));
  TFAOT_ASSIGN(validation.outputs, outputs.list(read_output));
  return validation;
}

}  // namespace tfaot::toolkit
