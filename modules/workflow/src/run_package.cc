// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/run_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tfaot/arrays/match_ragged.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/free_tensors.h"

namespace tfaot::toolkit {

namespace {

Result<std::vector<Array>> predict_ragged(Predictor& predictor, const ModelInputs& inputs) {
  std::vector<Array> outputs =
      mapped(predictor.model().manifest().signature.outputs,
             [&](const TensorSpec& tensor) { return make_ragged_array(tensor, inputs.offsets); });
  const auto elements = [](const Array& array) {
    return array.bytes.size() / size_of(array.dtype);
  };
  std::vector<::tfaot::Span<const std::size_t>> offsets(inputs.offsets.begin(),
                                                        inputs.offsets.end());
  std::vector<::tfaot::BatchRunner::RaggedInput> from;
  std::vector<::tfaot::BatchRunner::RaggedOutput> to;
  for (const Array& array : inputs.arrays) from.push_back({array.bytes.data(), elements(array)});
  for (Array& array : outputs) to.push_back({array.bytes.data(), elements(array)});
  TFAOT_TRY(predictor.run_ragged(static_cast<std::uint64_t>(inputs.rows), offsets, from, to));
  return outputs;
}

// Outputs whose rows have different sizes go to their own place.
void take_ragged(const Signature& signature, RunResult& result) {
  std::vector<Array> all = std::exchange(result.outputs, {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    (is_ragged(signature.outputs[i]) ? result.ragged : result.outputs).push_back(std::move(all[i]));
  }
}

// All outputs, and the offsets of those whose rows have different sizes, as the inputs' file has
// them.
std::vector<Array> arrays_of_file(const RunResult& result, const ModelInputs& inputs,
                                  const std::vector<FreeDimension>& dimensions, const Path& file) {
  std::vector<Array> arrays = all_outputs(result);
  const auto format = array_format(file);
  if (result.ragged.empty() || !format || *format != ArrayFormat::kNpz) return arrays;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (contains(arrays, dimensions[d].name, &Array::name)) continue;
    Array offsets{dimensions[d].name, DType::kInt64, {inputs.rows + 1}, {}};
    offsets.bytes.resize(inputs.offsets[d].size() * sizeof(std::int64_t));
    for (std::size_t i = 0; i < inputs.offsets[d].size(); ++i) {
      set_number(offsets.bytes, i, static_cast<std::int64_t>(inputs.offsets[d][i]));
    }
    arrays.push_back(std::move(offsets));
  }
  return arrays;
}

Status check_ragged_output(const RunRequest& request, const Signature& signature) {
  if (request.output.extension() != ".csv") return {};
  for (const TensorSpec& output : signature.outputs) {
    if (!is_ragged(output)) continue;
    return fail(
        Error::at({request.output.string()},
                  fmt::format("output '{}' has rows of different sizes, which a .csv cannot "
                              "hold",
                              shown(output.name)))
            .note("write a .npz"));
  }
  return {};
}

}  // namespace

std::vector<Array> all_outputs(const RunResult& result) {
  std::vector<Array> all = result.outputs;
  all.insert(all.end(), result.ragged.begin(), result.ragged.end());
  return all;
}

Result<std::vector<Array>> predict(Predictor& predictor, const ModelInputs& inputs) {
  if (!inputs.offsets.empty()) return predict_ragged(predictor, inputs);
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
               model_inputs(context.files, request.inputs, {signature.inputs, dimensions, true}));
  if (!inputs.offsets.empty()) TFAOT_TRY(check_ragged_output(request, signature));
  TFAOT_TRY(check_row_count(inputs.rows, signature.outputs));
  TFAOT_ASSIGN(auto model, load_package(context, package));
  TFAOT_ASSIGN(Predictor predictor, Predictor::create(std::move(model), request.options));
  const Manifest& manifest = predictor.model().manifest();
  RunResult result{manifest.name,
                   manifest.version,
                   predictor.cpu_level(),
                   inputs.rows,
                   {},
                   {},
                   !inputs.offsets.empty(),
                   {}};
  if (!result.is_ragged) result.sizes = named_sizes(dimensions, inputs.sizes);
  TFAOT_ASSIGN(result.outputs, predict(predictor, inputs));
  if (result.is_ragged) take_ragged(signature, result);
  if (!request.output.empty()) {
    TFAOT_TRY(write_arrays(context.files, request.output,
                           arrays_of_file(result, inputs, dimensions, request.output)));
  }
  return result;
}

}  // namespace tfaot::toolkit
