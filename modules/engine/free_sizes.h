// SPDX-License-Identifier: Apache-2.0
// A model for all sizes of its free dimensions: lowers and optimises it at some sizes, makes one of
// these (compiler/sizes), and checks at others of the range that it is the same model. Used by one
// thread.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "compiler/code/optimize.h"
#include "compiler/sizes/batch_form.h"
#include "compiler/sizes/joined_pieces.h"
#include "front/lowering/signature.h"

namespace tfaot::toolkit::engine {

// A model that was read with the sizes that a job gives.
struct LoadedSizes {
  std::unique_ptr<SourceModel> model;
  std::unique_ptr<Lowering> lowering;
};
// `sizes`: of the dimensions that have sizes of their own.
JobModel at_sizes(const JobModel& job, const Dimensions& sizes);
Result<LoadedSizes> load_at_sizes(const JobModel& job, const LoweringOptions& options,
                                  const Dimensions& sizes);

// What the batch sizes of a model have in common.
struct FoundSizes {
  bool has_form = false;       // its rows are alone, and run in batches of any size
  bool follows_sizes = false;  // LoweringOptions
  std::map<Dimensions, std::shared_ptr<BatchForm>> forms = {};  // by the sizes
  std::vector<SizePiece> pieces = {};                           // of another batch size
};

struct FreeSizesRequest {
  const JobModel& job;
  const LoweringOptions& options;
  std::int64_t batch_size;
  FoundSizes& found;
  const Choices& choices;
  Traces traces;
  WeightStore& weights;               // of the model at any of its sizes
  const std::vector<RawWeight>& raw;  // its weights
};
// Error: what cannot have a free size, by its node, or at which size of the range the model is
// another one.
Result<OptimizedModel> optimize_for_free_sizes(const FreeSizesRequest& request);

}  // namespace tfaot::toolkit::engine
