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

std::string model_description_to_json(const ModelDescription& model) {
  return tagged_line("model", model);
}

std::optional<ModelDescription> model_description_from_json(const std::string& line) {
  return from_tagged_line<ModelDescription>("model", line);
}

}  // namespace tfaot::toolkit
