// SPDX-License-Identifier: Apache-2.0
#include "lowering/signature_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "lowering/conversions.h"
#include "lowering/lowering.h"
#include "lowering/open_sizes.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_description.h"

namespace tfaot::toolkit::engine {
namespace {

Status check_type(const char* kind, const ModelTensor& tensor) {
  if (dtype_of(tensor.type)) return {};
  return fail(
      Error(fmt::format("{} '{}' has dtype {}, which compiled models cannot have", kind,
                        tensor.name, type_name(tensor.type)))
          .note(fmt::format("allowed: {}; cast inside the model", join(words_of<DType>(), ", ")))
          .about(word_of(ProblemKind::kDtype), {tensor.name}));
}

Status check_input(const ModelTensor& input, bool fixed_shapes) {
  TFAOT_TRY(check_type("input", input));
  if (!input.rank_known) return {};  // check_ranks_known() said it
  if (input.shape.empty() && !fixed_shapes) {
    return fail(Error(fmt::format("input '{}' is a scalar: it has no batch dimension", input.name))
                    .note("the first dimension of every input must be the batch")
                    .about(word_of(ProblemKind::kBatch), {input.name}));
  }
  std::int64_t elements = 1;
  for (std::size_t i = fixed_shapes ? 0 : 1; i < input.shape.size(); ++i) {
    if (input.shape[i] > kMostTensorElements / std::max<std::int64_t>(elements, 1)) {
      return fail(Error(fmt::format("input '{}' of shape {} is larger than any memory", input.name,
                                    shape_text(input.shape))));
    }
    elements *= input.shape[i];
  }
  return {};
}

// All inputs at once.
Status check_ranks_known(const std::vector<ModelTensor>& inputs, const SignatureRules& rules) {
  std::vector<std::string> names;
  std::vector<std::string> quoted;
  std::vector<std::string> items;
  for (const ModelTensor& input : inputs) {
    if (input.rank_known) continue;
    names.push_back(input.name);
    quoted.push_back(fmt::format("'{}'", input.name));
    const bool is_first = input.tensor.ends_with(":0");
    items.push_back(
        fmt::format("{{name: {}, shape: [{}3]}}",
                    is_first ? input.tensor.substr(0, input.tensor.size() - 2) : input.tensor,
                    rules.fixed_shapes ? "" : "null, "));
  }
  if (names.empty()) return {};
  const std::string subject =
      fmt::format("{} {} an unknown shape", join(quoted, ", "), names.size() == 1 ? "has" : "have");
  Error error(names.size() == 1 ? "input " + subject : "inputs " + subject);
  if (rules.shapes_from_config) {
    error.note(fmt::format("say it in the config, as in model.inputs: [{}]{}", join(items, ", "),
                           rules.fixed_shapes ? "" : "; null is the batch"));
  } else {
    error.note(
        "the number of dimensions must be known: save the model with a shape, such as "
        "tf.TensorSpec([None, 3])");
  }
  return fail(std::move(error).about(word_of(ProblemKind::kUnknownShape), std::move(names)));
}

}  // namespace

Status check_signature(const std::string& label, const std::vector<ModelTensor>& inputs,
                       const std::vector<ModelTensor>& outputs, const SignatureRules& rules) {
  if (inputs.empty() && !rules.fixed_shapes) {
    return fail(Error(fmt::format("{} has no inputs", label)));
  }
  if (outputs.empty()) {
    return fail(Error(fmt::format("{} has no outputs", label)));
  }
  std::vector<Error> errors;
  const auto take = [&errors](Status checked) {
    if (!checked) errors.push_back(std::move(checked).error());
  };
  for (const auto& input : inputs) take(check_input(input, rules.fixed_shapes));
  take(check_ranks_known(inputs, rules));
  take(check_open_sizes(inputs, rules.fixed_shapes));
  for (const auto& output : outputs) take(check_type("output", output));
  return all_or_first(std::move(errors));
}

bool fixes_batch(const ModelTensor& input) { return input.shape[0] >= 0; }

Status check_batch(const ModelTensor& input, std::int64_t batch_size) {
  if (!fixes_batch(input) || input.shape[0] == batch_size) return {};
  return fail(Error(fmt::format("input '{}' of shape {} has a fixed first dimension, so batch size "
                                "{} cannot be compiled",
                                input.name, shape_text(input.shape), batch_size))
                  .note(fmt::format("only batch size {0} can: compilation.batch_sizes: [{0}], or "
                                    "'--batch-sizes {0}'",
                                    input.shape[0]))
                  .note("for others, save the model with an unknown first dimension (None)")
                  .note("if that dimension is no batch: compilation.batch: none, or "
                        "'--batch none'")
                  .about(word_of(ProblemKind::kBatch), {input.name}));
}

}  // namespace tfaot::toolkit::engine
