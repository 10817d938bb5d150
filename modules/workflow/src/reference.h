// SPDX-License-Identifier: Apache-2.0
// What a model predicts without tfaot: by the program that its format belongs to. A new format of
// models brings another Reference here (make_reference()). Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/arrays/match_inputs.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

// For one batch. The outputs are in the model's order; none if it refused the inputs.
struct ReferenceAnswer {
  std::string refusal;  // why; empty: it did not refuse
  std::vector<Array> outputs;
};

struct ReferenceAnswers {
  std::string program;                   // "tensorflow 2.18.1"
  Signature signature;                   // of the model
  std::vector<ReferenceAnswer> answers;  // for each batch
};

class Reference {
 public:
  virtual ~Reference() = default;
  // Error: the model cannot be loaded. Answers that do not fit the signature are refusals.
  virtual Result<ReferenceAnswers> predict(const std::vector<const ModelInputs*>& batches) = 0;
  // The same by the form that the program makes of the model for speed, which rounds in other
  // places. No answers: it has no such form.
  virtual Result<ReferenceAnswers> predict_optimized(const std::vector<const ModelInputs*>&) {
    return ReferenceAnswers();
  }
};

struct ReferenceRequest {
  ModelSpec spec;       // of the package, with the model's source
  Signature signature;  // of the package
  Path library;         // of ONNX Runtime, for ONNX models; absolute; empty: that of python3
  EngineRun engine;
};

// Error: the format's program is missing. The context must outlive the reference.
Result<std::unique_ptr<Reference>> make_reference(Context& context, ReferenceRequest request);

// Predictions that were saved, as by the library that trained the model, in place of a model's.

// `rows` rows of outputs for as many rows of inputs; more rows are those again. Outputs are found
// by name. Real numbers are rounded to the output's type, and a row's numbers may have another
// shape. Answers are without elements for outputs that the file does not have. Error: it has no
// array, one that is no output, or one that does not fit.
Result<std::unique_ptr<Reference>> saved_reference(const FileSystem& files, const Path& file,
                                                   const Signature& signature, std::int64_t rows);

}  // namespace tfaot::toolkit
