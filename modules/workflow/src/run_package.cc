// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/run_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/free_tensors.h"

namespace tfaot::toolkit {

Result<std::vector<Array>> predict(Predictor& predictor, const ModelInputs& inputs) {
  std::vector<TensorSpec> tensors = predictor.model().manifest().signature.outputs;
  const bool is_sized = !inputs.sizes.empty();
  if (is_sized) tensors = tensors_at(std::move(tensors), inputs.sizes);
  std::vector<Array> outputs =
      mapped(tensors, [&](const TensorSpec& tensor) { return make_array(tensor, inputs.rows); });
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Array& array : inputs.arrays) from.push_back(array.bytes.data());
  for (Array& array : outputs) to.push_back(array.bytes.data());
  TFAOT_TRY(predictor.run(static_cast<std::uint64_t>(inputs.rows), from, to,
                          is_sized ? inputs.sizes.data() : nullptr));
  return outputs;
}

Result<std::vector<FreeDimension>> chosen_dimensions(const Manifest& manifest,
                                                     const std::vector<std::string>& texts) {
  const std::vector<FreeDimension>& all = manifest.dimensions;
  std::vector<FreeDimension> chosen = sized_dimensions(all);
  for (const std::string& text : texts) {
    const std::size_t mark = text.rfind('=');
    const std::string name = text.substr(0, mark);
    const auto found = std::ranges::find(all, name, &FreeDimension::name);
    if (found == all.end()) {
      const std::vector<std::string> names = mapped(all, &FreeDimension::name);
      return fail(Error::usage(fmt::format("--dimension: the model has no free dimension '{}'{}",
                                           shown(name), guess(name, names)))
                      .note("free dimensions: " + (names.empty() ? "none" : join(names, ", "))));
    }
    const std::string& sized = found->same_as.empty() ? name : found->same_as;
    FreeDimension& one = *std::ranges::find(chosen, sized, &FreeDimension::name);
    const auto size = parse_number<std::int64_t>(text.substr(mark + 1));
    if (!size || *size < one.smallest || *size > one.largest) {
      return fail(Error::usage(fmt::format("--dimension {}: the size must be {} to {}", shown(text),
                                           one.smallest, one.largest)));
    }
    one.smallest = one.largest = *size;
  }
  return chosen;
}

// All that can be wrong about the files is found before the linker starts.
Result<RunResult> run_package(Context& context, const RunRequest& request) {
  TFAOT_ASSIGN(const FoundPackage package, find_package(context, request.package));
  const Signature& signature = package.manifest.signature;
  if (!request.output.empty()) TFAOT_TRY(check_array_file(request.output, signature.outputs));
  TFAOT_ASSIGN(const std::vector<FreeDimension> dimensions,
               chosen_dimensions(package.manifest, request.dimensions));
  TFAOT_ASSIGN(const ModelInputs inputs,
               model_inputs(context.files, request.inputs, {signature.inputs, dimensions}));
  TFAOT_TRY(check_row_count(inputs.rows, signature.outputs));
  TFAOT_ASSIGN(auto model, load_package(context, package));
  TFAOT_ASSIGN(Predictor predictor, Predictor::create(std::move(model), request.options));
  const Manifest& manifest = predictor.model().manifest();
  RunResult result{manifest.name,
                   manifest.version,
                   predictor.cpu_level(),
                   inputs.rows,
                   named_sizes(dimensions, inputs.sizes),
                   {}};
  TFAOT_ASSIGN(result.outputs, predict(predictor, inputs));
  if (!request.output.empty()) {
    TFAOT_TRY(write_arrays(context.files, request.output, result.outputs));
  }
  return result;
}

}  // namespace tfaot::toolkit
