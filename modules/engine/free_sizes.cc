// SPDX-License-Identifier: Apache-2.0
#include "free_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/rows/waiting_loops.h"
#include "compiler/sizes/polynomial.h"
#include "compiler/sizes/sample_sizes.h"
#include "compiler/sizes/sized_model.h"
#include "front/load_model.h"

namespace tfaot::toolkit::engine {
namespace {

using Module = std::unique_ptr<xla::HloModule>;

std::string sizes_text(const std::vector<FreeDimension>& own, const Dimensions& sizes) {
  std::string text;
  for (std::size_t i = 0; i < own.size(); ++i) {
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", own[i].name, sizes[i]);
  }
  return text;
}

class FreeSizesOptimizer {
 public:
  explicit FreeSizesOptimizer(const FreeSizesRequest& request)
      : request_(request), own_(sized_dimensions(request.job.free_dimensions)) {}

  Result<OptimizedModel> run() {
    for (const FreeDimension& one : own_) {
      if (one.smallest > 0) continue;
      return fail(Error(fmt::format("the size of {} may be 0, which has no code yet", one.name))
                      .note("begin the range at 1, and do not call the model for empty sets"));
    }
    // A model whose weights end near the largest size cannot be lowered far beyond it, and one that
    // cuts a tensor there is another one.
    Status done = try_samples(SampleSide::kAbove);
    if (!done) {
      const bool is_in_range = samples_.size() == points_to_fit(own_.size());
      Status below = try_samples(SampleSide::kBelow);
      if (!below) return fail((is_in_range ? done : below).error());
    }
    if (!unproven_.empty()) {
      request_.warn(fmt::format(
          "at tiny sizes, such as {}, the model has other operations, which the compiler does not "
          "compare: 'tfaot validate' compares the results",
          sizes_text(own_, unproven_)));
    }
    return with_free_sizes(samples_, default_sizes(own_), {request_.weights, request_.traces});
  }

 private:
  Result<LoweredModel> lower(const Dimensions& sizes) const {
    TFAOT_ASSIGN(const LoadedSizes loaded, load_at_sizes(request_.job, request_.options, sizes));
    const auto& weights = loaded.lowering->weights();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const bool is_same = weights.size() == request_.raw.size() &&
                           weights[i].name == request_.raw[i].name &&
                           weights[i].shape == request_.raw[i].shape;
      if (!is_same) {
        return fail(Error(fmt::format("the weight '{}' has another shape at {}", weights[i].name,
                                      sizes_text(own_, sizes))));
      }
    }
    return loaded.lowering->lower(request_.batch_size);
  }

  // With its calls inlined and its whole numbers computed: a smaller of n and 30 becomes a number.
  Result<Module> simplified(const LoweredModel& lowered) const {
    TFAOT_ASSIGN(Module module, make_module(lowered.computation.proto()));
    PassContext context{*module, std::ssize(lowered.inputs), request_.choices, &request_.weights};
    TFAOT_TRY(run_passes(context, "simplify"));
    return module;
  }

  Status try_samples(SampleSide range) {
    TFAOT_TRY(take_samples(range));
    return check_range();
  }

  Status take_samples(SampleSide range) {
    const std::size_t wanted = points_to_fit(own_.size());
    samples_.clear();
    simplified_ = {};
    unproven_.clear();
    optimized_ = {};
    std::string difference = "there are too few sizes to tell";
    for (const Dimensions& sizes : sample_sizes(own_, range, 3 * wanted)) {
      TFAOT_ASSIGN(const LoweredModel lowered, lower(sizes));
      TFAOT_ASSIGN(Module simple, simplified(lowered));
      TFAOT_ASSIGN(OptimizedModel optimized,
                   optimize(lowered, request_.weights, request_.choices, Traces::kNames));
      TFAOT_ASSIGN(Module module, make_module(optimized.computation.proto()));
      const bool is_another =
          !optimized_.empty() && !have_same_form(optimized_.first(), *module, difference);
      if (is_another) continue;
      simplified_.add(sizes, std::move(simple));
      optimized_.add(sizes, std::move(module));
      samples_.push_back({sizes, std::move(optimized)});
      if (samples_.size() == wanted) return {};
    }
    return fail(
        Error("the model has other operations at other sizes of its free dimensions: " + difference)
            .note("give these dimensions fixed sizes: model.dimensions"));
  }

  // From the model that the samples say. Some operations are others at small sizes, as a reshape in
  // place of a broadcast: then the optimised model is compared.
  Result<SampledNumbers::Difference> difference_at(const Dimensions& sizes) {
    TFAOT_ASSIGN(const LoweredModel lowered, lower(sizes));
    TFAOT_ASSIGN(const Module module, simplified(lowered));
    SampledNumbers::Difference found = simplified_.difference(sizes, *module);
    if (!found.is_form) return found;
    TFAOT_ASSIGN(const OptimizedModel optimized,
                 optimize(lowered, request_.weights, request_.choices, Traces::kNames));
    TFAOT_ASSIGN(const Module made, make_module(optimized.computation.proto()));
    return optimized_.difference(sizes, *made);
  }

  // At the ends of the range and in its middle, at odd and even sizes.
  Status check_range() {
    // Not two of one size: what is equal by chance becomes one operation.
    Dimensions smallest;
    Dimensions largest;
    for (const FreeDimension& one : own_) {
      smallest.push_back(one.smallest);
      largest.push_back(one.largest);
      while (place_among(without(smallest, std::ssize(smallest) - 1), smallest.back()) >= 0 &&
             smallest.back() < one.largest) {
        ++smallest.back();
      }
      while (place_among(without(largest, std::ssize(largest) - 1), largest.back()) >= 0 &&
             largest.back() > one.smallest) {
        --largest.back();
      }
    }
    TFAOT_TRY(check_at(smallest));
    for (std::size_t d = 0; d < own_.size(); ++d) {
      Dimensions sizes = largest;
      const std::int64_t low = own_[d].smallest;
      const std::int64_t high = own_[d].largest;
      const std::int64_t middle = low + (high - low) / 3;
      std::set<std::int64_t> checked = {low,        low + 1,    middle,   middle + 1,
                                        middle + 2, middle + 3, high - 1, high};
      checked.insert({3, 4, 5, 8, 11, 16});  // small, but not tiny
      for (const std::int64_t size : checked) {
        if (size < low || size > high) continue;
        sizes[d] = size;
        if (std::ranges::count(sizes, size) > 1) continue;
        TFAOT_TRY(check_at(sizes));
      }
    }
    return {};
  }

  Status check_at(const Dimensions& sizes) {
    const auto difference = difference_at(sizes);
    if (!difference) {
      Error error = difference.error();
      return fail(std::move(error).note(fmt::format(
          "this is at {}, which compilation.dimensions allow", sizes_text(own_, sizes))));
    }
    if (difference->what.empty()) return {};
    // Where the compiler makes other code for a tiny size, that says nothing.
    constexpr std::int64_t kTiny = 4;
    if (difference->is_form && std::ranges::min(sizes) <= kTiny) {
      unproven_ = unproven_.empty() ? sizes : unproven_;
      return {};
    }
    Error error(fmt::format("at {} the model computes otherwise than at other sizes: {}",
                            sizes_text(own_, sizes), difference->what));
    TFAOT_TRY(note_where(sizes, error));
    return fail(std::move(error));
  }

  // Adds from which size on the model is the same.
  Status note_where(const Dimensions& sizes, Error& error) {
    for (std::size_t d = 0; d < own_.size(); ++d) {
      std::int64_t other = sizes[d];
      std::int64_t same = own_[d].largest;
      Dimensions point = default_sizes(own_);
      while (other + 1 < same) {
        point[d] = other + (same - other) / 2;
        const auto difference = difference_at(point);
        (difference && difference->what.empty() ? same : other) = point[d];
      }
      if (same == own_[d].largest) continue;
      error.note(
          fmt::format("the range {}..{} of {} can be compiled, and another package for "
                      "the smaller ones",
                      same, own_[d].largest, own_[d].name));
      return {};
    }
    return {};
  }

  const FreeSizesRequest& request_;
  const std::vector<FreeDimension> own_;
  std::vector<SizeSample> samples_;
  Dimensions unproven_;        // the first sizes that could not be compared
  SampledNumbers simplified_;  // of the samples
  SampledNumbers optimized_;   // of the same
};

}  // namespace

JobModel at_sizes(const JobModel& job, const Dimensions& sizes) {
  JobModel model = job;
  for (DimensionSize& size : named_sizes(job.free_dimensions, sizes)) {
    model.dimensions.push_back(std::move(size));
  }
  return model;
}

Result<LoadedSizes> load_at_sizes(const JobModel& job, const LoweringOptions& options,
                                  const Dimensions& sizes) {
  LoadedSizes loaded;
  TFAOT_ASSIGN(loaded.model, load_model(at_sizes(job, sizes)));
  TFAOT_TRY(loaded.model->prepare());
  TFAOT_ASSIGN(auto lowering, loaded.model->lowering(options));
  loaded.lowering = with_frozen_rows(std::move(lowering));
  return loaded;
}

Result<OptimizedModel> optimize_for_free_sizes(const FreeSizesRequest& request) {
  return FreeSizesOptimizer(request).run();
}

}  // namespace tfaot::toolkit::engine
