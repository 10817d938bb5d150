// SPDX-License-Identifier: Apache-2.0
// The config's model.constants, in any format. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/framework/types.pb.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

// What a model has under the name of a constant.
struct ConstantPlace {
  const char* what = "placeholder";  // what such places are called
  tensorflow::DataType type = tensorflow::DT_INVALID;
  bool rank_known = false;
  std::vector<std::int64_t> shape = {};  // -1: unknown
};

// The values of the constant as bytes of the place's type, row-major. `index`: of the constant in
// the config. Errors: the type or the shape does not fit.
Result<std::string> constant_bytes(const ModelConstant& constant, std::size_t index,
                                   const ConstantPlace& place);

// The error for a constant of which the model has no place. `known`: the places that it has.
Error no_place_for(const ModelConstant& constant, std::size_t index, const std::string& what,
                   const std::set<std::string>& known);

// "model.constants[2]".
std::string constant_key(std::size_t index);

// "write model.constants: {NAME: false} in the config", for a model that lacks the value.
std::string advice_to_fix(const std::string& name, tensorflow::DataType type);

// Truth values and whole numbers are switches, such as whether to train; they look like no input.
// Their first value: false or 0. Nothing for other types.
std::optional<std::string> switched_off(tensorflow::DataType type);

}  // namespace tfaot::toolkit::engine
