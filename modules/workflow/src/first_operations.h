// SPDX-License-Identifier: Apache-2.0
// Which operation of a model is the first whose bits differ: compiles the model again, with the
// results of its operations as outputs, and compares these. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/arrays/compare.h"
#include "tfaot/base/result.h"
#include "tfaot/load/loaded_model.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/operation_result.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/validate_bits.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {

// How the numbers of a batch differ from those of its rows, whatever their order: a result may hold
// the rows one after another, or the steps of all rows. `ulps`: numbers that one of the two lacks
// are compared in ascending order. REQUIRES: both have the same type and size.
BitsDifference compare_unordered(const Array& batch, const Array& rows);

// For each result of the second list the place of the same one in the first; -1: there is none. The
// same: of the same node of the model, and as far behind it.
std::vector<std::ptrdiff_t> same_results(const std::vector<OperationResult>& first,
                                         const std::vector<OperationResult>& second);

class FirstOperations {
 public:
  // `spec`: what the package was compiled from, with the source that the user named; `levels`: all
  // that are asked for; `inputs`: of any number of rows.
  static Result<FirstOperations> create(const Context& context, const EngineRun& engine,
                                        ModelSpec spec, std::vector<std::string> levels,
                                        std::vector<Array> inputs);

  // Between two levels, by a batch of these rows. Nothing if no result differs.
  Result<std::optional<DifferentOperation>> between_levels(const std::string& level,
                                                           const std::string& other,
                                                           const std::vector<std::int64_t>& rows);
  // Between each of these rows alone and a batch of them. REQUIRES: size 1 is compiled.
  Result<std::optional<DifferentOperation>> between_batches(const std::string& level,
                                                            const std::vector<std::int64_t>& rows);

 private:
  struct Code {
    std::shared_ptr<const LoadedModel> model;
    std::vector<OperationResult> results;
  };

  FirstOperations(const Context& context, ScratchFolder scratch)
      : context_(context), scratch_(std::move(scratch)) {}
  Result<const Code*> code_of(std::int64_t size);
  // Without the model's own outputs.
  Result<std::vector<Array>> results_of(const Code& code, const std::string& level,
                                        const std::vector<std::int64_t>& rows);

  Context context_;
  ScratchFolder scratch_;
  EngineRun engine_;
  ModelSpec spec_;
  std::vector<std::string> levels_;
  std::vector<Array> inputs_;
  std::map<std::int64_t, Code> codes_;  // by batch size
};

}  // namespace tfaot::toolkit
