// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_spec.h"

#include <cstddef>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The part below the dimension; `next` is its first value.
std::string part_text(const ModelConstant& constant, std::size_t dimension, std::size_t& next) {
  if (dimension == constant.shape.size()) return constant.values.at(next++);
  std::vector<std::string> parts;
  for (std::int64_t i = 0; i < constant.shape[dimension]; ++i) {
    parts.push_back(part_text(constant, dimension + 1, next));
  }
  return "[" + join(parts, ", ") + "]";
}

}  // namespace

std::string name_of(ModelFormat format) {
  switch (format) {
    case ModelFormat::kSavedModel:
      return "SavedModel";
    case ModelFormat::kFrozenGraph:
      return "frozen graph";
    case ModelFormat::kOnnx:
      return "ONNX model";
    case ModelFormat::kStableHlo:
      break;
  }
  return "StableHLO module";
}

std::string one_of(ModelFormat format) {
  return (format == ModelFormat::kOnnx ? "an " : "a ") + name_of(format);
}

std::string value_text(const ModelConstant& constant) {
  std::size_t next = 0;
  return part_text(constant, 0, next);
}

}  // namespace tfaot::toolkit
