// SPDX-License-Identifier: Apache-2.0
#include "front/lowering/signature.h"

#include <fmt/format.h>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/simplify.h"
#include "front/lowering/signature_checks.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_description.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {
namespace {

Error data_dependent(Error error, SizeCauses causes) {
  for (const std::string& text : causes.texts) error.note("it comes from " + text);
  return std::move(error)
      .note("a compiled model has fixed sizes: return a mask or padded values")
      .about(word_of(ProblemKind::kDataDependentSize), std::move(causes.names));
}

Error data_dependent(const ModelTensor& output, const xla::Shape& shape, SizeCauses causes) {
  causes.names.push_back(output.name);
  return data_dependent(Error(fmt::format("output '{}' has a size that depends on the data ({})",
                                          output.name, shape.ToString())),
                        std::move(causes));
}

}  // namespace

// Outputs whose size depends on the data compile without an error, but would return wrong sizes.
Result<LoweredModel> with_signature(LoweredModel lowered, const std::vector<ModelTensor>& inputs,
                                    const std::vector<ModelTensor>& outputs,
                                    std::int64_t batch_size,
                                    const std::function<SizeCauses()>& causes) {
  TFAOT_TRY(check_ranks(lowered.computation.proto()));
  std::vector<Error> errors;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ModelTensor& output = outputs[i];
    const auto& shape = lowered.shape.result().tuple_shapes(static_cast<int>(i));
    if (!shape.is_static()) {
      errors.push_back(data_dependent(output, shape, causes()));
      continue;
    }
    const std::vector<std::int64_t> dimensions(shape.dimensions().begin(),
                                               shape.dimensions().end());
    if (dimensions.empty() || dimensions[0] != batch_size) {
      errors.push_back(
          Error(fmt::format("output '{}' has shape {} for batch size {}: its first dimension "
                            "is not the batch",
                            output.name, shape_text(dimensions), batch_size))
              .note("every output must have one row per event; broadcast it over the batch "
                    "or leave it out of the signature")
              .about(word_of(ProblemKind::kBatch), {output.name}));
      continue;
    }
    lowered.outputs.push_back({output.name, *dtype_of(output.type), row_shape(shape)});
  }
  TFAOT_TRY(all_or_first(std::move(errors)));
  const Status fixed = make_sizes_static(lowered.computation);
  if (!fixed) return fail(data_dependent(fixed.error(), causes()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    lowered.inputs.push_back({inputs[i].name, *dtype_of(inputs[i].type),
                              row_shape(lowered.shape.parameters(static_cast<int>(i)))});
  }
  return lowered;
}

}  // namespace tfaot::toolkit::engine
