// SPDX-License-Identifier: Apache-2.0
// The model that a package is compared with, as the user named it. Pure functions.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_description.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/validate_package.h"

namespace tfaot::toolkit {

// `model` is the package's; the result has the source that the request names. Error: it is no model
// of the package's format.
Result<ModelSection> model_source(const Context& context, const ValidateRequest& request,
                                  ModelSection model);

// Error: the model has other inputs or outputs than the package. It lists them.
Status check_same_signature(const Path& model, const Signature& found, const Signature& package);

// The same by their names alone: of a model that could not be run.
Status check_same_names(const Path& model, const DescribedSignature& found,
                        const Signature& package);

}  // namespace tfaot::toolkit
