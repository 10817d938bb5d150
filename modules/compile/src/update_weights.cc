// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/update_weights.h"

#include <fmt/format.h>

#include <map>

#include "architecture.h"
#include "tfaot/compile/lower_model.h"

namespace tfaot::toolkit {
namespace {

// The package's settings, such as the sizes of open dimensions, did fit the model that it was made
// from.
Error as_told(Error error) {
  if (error.where().key.empty()) return error;
  Error told = Error::at(error.where(), "another model than the package was made from");
  told.note(error.message());
  for (const std::string& note : error.notes()) told.note(note);
  return told;
}

}  // namespace

Result<CompiledModel> update_weights(FileSystem& fs, const ModelSpec& spec,
                                     const CompiledModel& package, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  auto lowered = lower_model(fs, spec, options, diagnostics);
  if (!lowered) return fail(as_told(std::move(lowered).error()));
  CompiledModel model = *std::move(lowered);
  if (model.engine != package.engine) {
    return fail(Error(fmt::format("the package's code was made by {}, but the engine here is {}",
                                  package.engine, model.engine))
                    .note("compile the model again: tfaot compile"));
  }
  const auto differences = architecture_differences(package, model);
  if (!differences.empty()) {
    Error error = Error::at({spec.model.source.string()},
                            "the model's architecture differs from that of the package's code");
    for (const std::string& line : differences) error.note(line);
    return fail(error.note("compile the model again: tfaot compile"));
  }
  // The new weights for each batch size, as lowering found them. Equal weights are stored once, so
  // the table changes if other ones are equal now.
  std::map<std::int64_t, std::vector<std::uint32_t>> weights;
  for (const CompiledCode& code : model.codes) weights[code.batch_size] = code.weights;
  model.codes = package.codes;
  for (CompiledCode& code : model.codes) code.weights = weights.at(code.batch_size);
  return model;
}

}  // namespace tfaot::toolkit
