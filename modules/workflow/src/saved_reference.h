// SPDX-License-Identifier: Apache-2.0
// Predictions that were saved, as by the library that trained the model, in place of a model's.
#pragma once

#include <cstdint>
#include <memory>

#include "reference.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

// `rows` rows of outputs for as many rows of inputs; more rows are those again. Outputs are found
// by name. Real numbers are rounded to the output's type, and a row's numbers may have another
// shape. Answers are without elements for outputs that the file does not have. Error: it has no
// array, one that is no output, or one that does not fit.
Result<std::unique_ptr<Reference>> saved_reference(const FileSystem& files, const Path& file,
                                                   const Signature& signature, std::int64_t rows);

}  // namespace tfaot::toolkit
