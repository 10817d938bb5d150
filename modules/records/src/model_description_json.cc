// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_description_json.h"

#include "model_section_json.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<DescribedTensor> = std::tuple{
    Member{"name", &DescribedTensor::name},    Member{"tensor", &DescribedTensor::tensor},
    Member{"dtype", &DescribedTensor::dtype},  Member{"rank_known", &DescribedTensor::rank_known},
    Member{"shape", &DescribedTensor::shape},  Member{"dimensions", &DescribedTensor::dimensions},
    Member{"origin", &DescribedTensor::origin}};
template <>
inline constexpr auto kMembers<OperationCount> = std::tuple{
    Member{"operation", &OperationCount::operation}, Member{"count", &OperationCount::count}};
template <>
inline constexpr auto kMembers<DescribedSignature> =
    std::tuple{Member{"key", &DescribedSignature::key},
               Member{"inputs", &DescribedSignature::inputs},
               Member{"outputs", &DescribedSignature::outputs},
               Member{"constants", &DescribedSignature::constants},
               Member{"weights", &DescribedSignature::weights},
               Member{"operations", &DescribedSignature::operations},
               Member{"flops_per_row", &DescribedSignature::flops_per_row},
               Member{"problem", &DescribedSignature::problem},
               Member{"notes", &DescribedSignature::notes},
               Member{"newer_opset", &DescribedSignature::newer_opset}};
template <>
inline constexpr auto kMembers<ModelDescription> = std::tuple{
    Member{"format", &ModelDescription::format}, Member{"producer", &ModelDescription::producer},
    Member{"signatures", &ModelDescription::signatures}};

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
