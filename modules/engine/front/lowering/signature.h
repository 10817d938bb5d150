// SPDX-License-Identifier: Apache-2.0
// The conditions for compiling a signature, in any format: dtypes, known shapes, the batch as the
// first dimension, the limits of base/limits.h, sizes that the model leaves open and the config
// gives (by the model's own name, or "input:axis"), and the config's model.constants. Errors caused
// by the config name a key of it ("model.outputs[0]"); the compile room finds its line. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "front/lowering/source_model.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

inline Error config_fault(const std::string& key, std::string message) {
  return Error::at({.file = "", .key = key}, std::move(message));
}

// "placeholders: a, b, c", for a config that names what does not exist.
inline std::string listed(const std::string& what, std::vector<std::string> names) {
  constexpr std::size_t kMostNames = 10;
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return what + ": " + (names.empty() ? "none" : join(names, ", "));
}

Status check_signature_limits(const EngineJob& job, const SourceModel& model);
Status check_weight_limits(const std::vector<Variable>& weights);

// The next dimension of the tensor. `size`: -1 if it is open; then it may have a name.
void add_dimension(ModelTensor& tensor, std::int64_t size, const std::string& name);

// Names the open dimensions that have no name, and gives those of the job their size. Error: the
// job names another one.
Status set_open_sizes(std::vector<ModelTensor>& inputs, const EngineJob& job);

// The place that a model has under the name of a constant.
struct ConstantPlace {
  const char* what = "placeholder";  // the kind of such places
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

struct SignatureRules {
  bool fixed_shapes = false;        // no dimension is the batch
  bool shapes_from_config = false;  // the config may say the shape of an input
};

// Checks inputs and outputs as far as the signature shows them; output shapes are known only after
// lowering. `label` names the model in messages.
Status check_signature(const std::string& label, const std::vector<ModelTensor>& inputs,
                       const std::vector<ModelTensor>& outputs, const SignatureRules& rules);

// An input with a fixed first dimension allows only that batch size.
bool fixes_batch(const ModelTensor& input);
Status check_batch(const ModelTensor& input, std::int64_t batch_size);

// The end of every format's lowering: the model with its inputs and outputs, as the signature names
// them and the computation shapes them. Errors: more dimensions than base/limits.h allows, a size
// that depends on the data, rows that are not the batch's. `causes`: the nodes to blame for a size
// that depends on the data.
Result<LoweredModel> with_signature(LoweredModel lowered, const std::vector<ModelTensor>& inputs,
                                    const std::vector<ModelTensor>& outputs,
                                    std::int64_t batch_size,
                                    const std::function<SizeCauses()>& causes);

}  // namespace tfaot::toolkit::engine
