// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_description_json.h"

#include "model_section_json.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(DescribedTensor, name, tensor, dtype, rank_known, shape, dimensions, origin);
TFAOT_MEMBERS(OperationCount, operation, count);
TFAOT_MEMBERS(DescribedSignature, key, inputs, outputs, constants, weights, operations,
              flops_per_row, problem, notes, newer_opset);
TFAOT_MEMBERS(ModelDescription, format, producer, signatures);

namespace {

constexpr const char* kModelKey = "model";

}  // namespace

std::string model_description_to_json(const ModelDescription& model) {
  return json_line({{kModelKey, json_of(model)}});
}

std::optional<ModelDescription> model_description_from_json(const std::string& line) {
  const auto json = parse_json(line, "");
  if (!json) return std::nullopt;
  auto model = JsonReader(*json, "").member(kModelKey).and_then(read_value<ModelDescription>);
  return model ? std::make_optional(*std::move(model)) : std::nullopt;
}

}  // namespace tfaot::toolkit
