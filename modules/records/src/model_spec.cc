// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

std::string name_of(ModelFormat format) {
  switch (format) {
    case ModelFormat::kSavedModel:
      return "SavedModel";
    case ModelFormat::kFrozenGraph:
      return "frozen graph";
    case ModelFormat::kOnnx:
      break;
  }
  return "ONNX model";
}

std::string one_of(ModelFormat format) {
  return (format == ModelFormat::kOnnx ? "an " : "a ") + name_of(format);
}

}  // namespace tfaot::toolkit
