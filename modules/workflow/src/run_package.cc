// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/run_package.h"

#include <utility>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

Result<std::vector<Array>> predict(Predictor& predictor, const ModelInputs& inputs) {
  const std::vector<TensorSpec>& tensors = predictor.model().manifest().signature.outputs;
  std::vector<Array> outputs =
      mapped(tensors, [&](const TensorSpec& tensor) { return make_array(tensor, inputs.rows); });
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Array& array : inputs.arrays) from.push_back(array.bytes.data());
  for (Array& array : outputs) to.push_back(array.bytes.data());
  TFAOT_TRY(predictor.run(static_cast<std::uint64_t>(inputs.rows), from, to));
  return outputs;
}

// All that can be wrong about the files is found before the linker starts.
Result<RunResult> run_package(Context& context, const RunRequest& request) {
  TFAOT_ASSIGN(const FoundPackage package, find_package(context, request.package));
  const Signature& signature = package.manifest.signature;
  if (!request.output.empty()) TFAOT_TRY(check_array_file(request.output, signature.outputs));
  TFAOT_ASSIGN(const ModelInputs inputs,
               model_inputs(context.files, request.inputs, signature.inputs));
  TFAOT_TRY(check_row_count(inputs.rows, signature.outputs));
  TFAOT_ASSIGN(auto model, load_package(context, package));
  TFAOT_ASSIGN(Predictor predictor, Predictor::create(std::move(model), request.options));
  const Manifest& manifest = predictor.model().manifest();
  RunResult result{manifest.name, manifest.version, predictor.cpu_level(), inputs.rows, {}};
  TFAOT_ASSIGN(result.outputs, predict(predictor, inputs));
  if (!request.output.empty()) {
    TFAOT_TRY(write_arrays(context.files, request.output, result.outputs));
  }
  return result;
}

}  // namespace tfaot::toolkit
