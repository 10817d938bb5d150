// SPDX-License-Identifier: Apache-2.0
#include "validated_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/model_files.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kNameTheSource = "name the model that the package was compiled from";

Error other_tensors(const Path& model) {
  return Error::at({model.string()}, "the model has other inputs or outputs than the package");
}

std::string sorted_names(const auto& tensors) {
  std::vector<std::string> names =
      mapped(tensors, [](const auto& tensor) { return shown(tensor.name); });
  std::ranges::sort(names);
  return join(names, ", ");
}

void add_name_differences(Error& error, const std::string& role,
                          const std::vector<DescribedTensor>& model,
                          const std::vector<TensorSpec>& package) {
  const std::string in_model = sorted_names(model);
  const std::string in_package = sorted_names(package);
  if (in_model == in_package) return;
  error.note(fmt::format("{}: {} in the model; {} in the package", role, in_model, in_package));
}

std::string tensor_text(const TensorSpec& tensor) {
  return fmt::format("{} [{}{}{}]", word_of(tensor.dtype), "batch",
                     tensor.row_shape.empty() ? "" : ", ", fmt::join(tensor.row_shape, ", "));
}

void add_tensor_differences(Error& error, const std::string& role,
                            const std::vector<TensorSpec>& model,
                            const std::vector<TensorSpec>& package) {
  const auto text_in = [](const std::vector<TensorSpec>& tensors, const std::string& name) {
    const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
    return found == tensors.end() ? std::string("missing") : tensor_text(*found);
  };
  std::vector<std::string> names;
  for (const auto* tensors : {&package, &model}) {
    for (const TensorSpec& tensor : *tensors) {
      add_new(names, tensor.name);
    }
  }
  for (const std::string& name : names) {
    const std::string in_model = text_in(model, name);
    const std::string in_package = text_in(package, name);
    if (in_model == in_package) continue;
    error.note(fmt::format("{} '{}': {} in the model, {} in the package", role, shown(name),
                           in_model, in_package));
  }
}

// The first prime from there on; `largest` if there is none.
std::int64_t prime_from(std::int64_t first, std::int64_t largest) {
  const auto is_prime = [](std::int64_t number) {
    if (number < 2) return false;
    for (std::int64_t factor = 2; factor * factor <= number; ++factor) {
      if (number % factor == 0) return false;
    }
    return true;
  };
  while (first < largest && !is_prime(first)) ++first;
  return first;
}

}  // namespace

Result<ModelSection> model_source(const Context& context, const NamedModel& name,
                                  ModelSection model) {
  const FileSystem& files = context.files;
  const NamedPath named = named_path(files, name.path);
  model.source = name.path;
  std::optional<ModelFormat> found = named.format;
  if (named.kind == PathKind::kConfig) {
    TFAOT_ASSIGN(const ModelSpec spec, load_model_spec(files, name.path));
    model.source = spec.model.source;
    found = spec.model.format;
  }
  if (!found) {
    return fail(wrong_input(
        files, name.path, {"--model takes " + model_kinds() + ", or a config that names one", ""}));
  }
  if (*found != model.format) {
    return fail(Error::at({model.source.string()},
                          fmt::format("this is {}, and the package was compiled from {}",
                                      one_of(*found), one_of(model.format)))
                    .note(kNameTheSource));
  }
  if (!name.signature.empty()) {
    if (*found != ModelFormat::kSavedModel) {
      return fail(
          Error::usage(fmt::format("--signature is for SavedModels: {} has none", one_of(*found))));
    }
    model.serving_key = name.signature;
  }
  return model;
}

Status check_same_signature(const Path& model, const Signature& found, const Signature& package) {
  Error error = other_tensors(model);
  add_tensor_differences(error, "input", found.inputs, package.inputs);
  add_tensor_differences(error, "output", found.outputs, package.outputs);
  if (error.notes().empty()) return {};
  return fail(error.note(kNameTheSource));
}

Status check_same_names(const Path& model, const DescribedSignature& found,
                        const Signature& package) {
  Error error = other_tensors(model);
  add_name_differences(error, "inputs", found.inputs, package.inputs);
  add_name_differences(error, "outputs", found.outputs, package.outputs);
  if (error.notes().empty()) return {};
  return fail(error.note(kNameTheSource));
}

Result<LevelsHere> levels_here(const LoadedModel& model, const Path& package) {
  LevelsHere levels{runnable_levels(model.compiled()), {}};
  const std::vector<std::string>& all = model.manifest().cpu_levels;
  for (const std::string& level : all) {
    if (!contains(levels.run, level)) levels.skipped.push_back(level);
  }
  if (!levels.run.empty()) return levels;
  return fail(Error::at({package.string()}, "this CPU can run none of the package's code")
                  .note("compiled levels: " + join(all, ", ")));
}

Result<ModelInputs> rows_of_file(const FileSystem& files, const Path& file,
                                 const WantedInputs& inputs) {
  InputSource source;
  source.file = file;
  TFAOT_ASSIGN(ModelInputs found, model_inputs(files, source, inputs));
  if (found.rows > 0) return found;
  return fail(Error::at({file.string()}, "the file has no rows"));
}

bool composes_batches(const Manifest& manifest) {
  return manifest.rows == RowsMode::kAlone && manifest.batch == BatchMode::kFirst;
}

std::vector<std::vector<std::int64_t>> validation_sizes(
    const std::vector<FreeDimension>& dimensions) {
  const std::vector<FreeDimension> sized = sized_dimensions(dimensions);
  const auto at_share = [](const FreeDimension& one, std::int64_t quarters) {
    return one.smallest + (one.largest - one.smallest) * quarters / 4;
  };
  std::vector<std::vector<std::int64_t>> found;
  const auto add = [&](const auto& size_of_dimension) {
    std::vector<std::int64_t> sizes;
    for (std::size_t d = 0; d < sized.size(); ++d) {
      sizes.push_back(size_of_dimension(sized[d], d));
    }
    add_new(found, sizes);
  };
  using Dimension = const FreeDimension&;
  add([](Dimension one, std::size_t) { return one.smallest; });
  add([](Dimension one, std::size_t) { return one.largest; });
  add([&](Dimension one, std::size_t) { return at_share(one, 2); });
  add([&](Dimension one, std::size_t) { return prime_from(at_share(one, 1), one.largest); });
  add([&](Dimension one, std::size_t) { return prime_from(at_share(one, 3), one.largest); });
  for (const std::size_t parity : {0U, 1U}) {
    add([&](Dimension one, std::size_t d) { return d % 2 == parity ? one.smallest : one.largest; });
  }
  return found;
}

ModelSpec spec_at(ModelSpec spec, const std::vector<std::int64_t>& sizes) {
  for (DimensionSize& one : named_sizes(spec.compilation.dimensions, sizes)) {
    spec.model.dimensions.push_back(std::move(one));
  }
  spec.compilation.dimensions.clear();
  return spec;
}

std::vector<ValidationBatch> validation_batches(const Manifest& manifest, std::int64_t file_rows) {
  const std::vector<std::int64_t>& sizes = manifest.batch_sizes;
  const bool coupled = !composes_batches(manifest);
  std::vector<ValidationBatch> batches;
  for (const std::int64_t size : sizes) {
    batches.push_back({size, Composition::kCompiled, coupled ? "" : fmt::format("{0}:{0}", size)});
  }
  if (coupled) return batches;
  for (const std::int64_t size : sizes) {
    if (size == 1) continue;
    batches.push_back({size - 1, Composition::kPadded, fmt::format("{}:{}", size - 1, size)});
  }
  const std::int64_t least = sizes.front();
  for (const std::int64_t size : sizes) {
    batches.push_back(
        {size + least, Composition::kStitched, fmt::format("{}:{},{}", size + least, size, least)});
  }
  batches.push_back({2 * sizes.back() + 1, Composition::kPlanned, ""});
  if (file_rows > 0) batches.push_back({file_rows, Composition::kPlanned, ""});
  return batches;
}

}  // namespace tfaot::toolkit
