// SPDX-License-Identifier: Apache-2.0
// What a package is validated with: the model as the user named it, and the batches. Pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/arrays/match_inputs.h"
#include "tfaot/base/result.h"
#include "tfaot/load/loaded_model.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/model_description.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/validation.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/validate_package.h"

namespace tfaot::toolkit {

// What a user names: a model or a config; absolute. `signature`: of a SavedModel; empty: the one
// that the package was compiled from.
struct NamedModel {
  Path path;
  std::string signature = {};
};
// `model` is the package's; the result has the source that is named. Error: it is no model of the
// package's format.
Result<ModelSection> model_source(const Context& context, const NamedModel& name,
                                  ModelSection model);

// Error: the model has other inputs or outputs than the package. It lists them.
Status check_same_signature(const Path& model, const Signature& found, const Signature& package);

// The same by their names alone: of a model that could not be run.
Status check_same_names(const Path& model, const DescribedSignature& found,
                        const Signature& package);

// The package's levels, ascending.
struct LevelsHere {
  std::vector<std::string> run;
  std::vector<std::string> skipped;  // that this CPU cannot run
};
// Error, naming the package: none runs.
Result<LevelsHere> levels_here(const LoadedModel& model, const Path& package);

// A user's inputs. Error: they do not fit the model, or there are none.
Result<ModelInputs> rows_of_file(const FileSystem& files, const Path& file,
                                 const WantedInputs& inputs);

struct ValidationBatch {
  std::int64_t rows = 0;
  Composition composition = Composition::kCompiled;
  std::string rule;  // of the runtime, "5:2,4"; empty: the runtime chooses
};

// True if any number of rows may run: rows are independent, and there is a batch.
bool composes_batches(const Manifest& manifest);

// The sizes at which a model with free dimensions is validated; one without sizes for all others:
// the smallest, the largest, the middle and two primes, then small ones of some dimensions with
// large ones of others.
std::vector<std::vector<std::int64_t>> validation_sizes(
    const std::vector<FreeDimension>& dimensions);

// The model at these sizes of its free dimensions, none of which is free then.
ModelSpec spec_at(ModelSpec spec, const std::vector<std::int64_t>& sizes);

// For each compiled size: it alone, padding, and two calls; then more rows than two of the largest
// size, and `file_rows` if there are any. If batches are not composed, the compiled
// sizes alone.
std::vector<ValidationBatch> validation_batches(const Manifest& manifest, std::int64_t file_rows);

}  // namespace tfaot::toolkit
