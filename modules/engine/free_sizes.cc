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
      : request_(request), own_(own_dimensions(request.job.free_dimensions)) {}

  Result<OptimizedModel> run() {
    TFAOT_TRY(take_samples());
    TFAOT_TRY(check_range());
    return with_free_sizes(samples_, largest_sizes(own_), {request_.weights, request_.traces});
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

  Status take_samples() {
    const std::size_t wanted = points_to_fit(own_.size());
    // A model whose weights end with the largest size cannot be lowered beyond it.
    SampleRange range = SampleRange::kAbove;
    if (!lower(sample_sizes(own_, range, 1).front())) range = SampleRange::kBelow;
    std::string difference;
    for (const Dimensions& sizes : sample_sizes(own_, range, 3 * wanted)) {
      TFAOT_ASSIGN(const LoweredModel lowered, lower(sizes));
      TFAOT_ASSIGN(Module as_lowered, make_module(lowered.computation.proto()));
      TFAOT_ASSIGN(OptimizedModel optimized,
                   optimize(lowered, request_.weights, request_.choices, Traces::kNames));
      TFAOT_ASSIGN(Module module, make_module(optimized.computation.proto()));
      if (!samples_.empty() && !have_same_form(*first_, *module, difference)) continue;
      if (samples_.empty()) {
        first_ = std::move(module);
        form_ = std::move(as_lowered);
        numbers_.push_back(numbers_of(*form_));
      } else {
        numbers_.push_back(numbers_of(*as_lowered));
      }
      samples_.push_back({sizes, std::move(optimized)});
      points_.push_back(sizes);
      if (samples_.size() == wanted) return {};
    }
    return fail(
        Error("the model has other operations at other sizes of its free dimensions: " + difference)
            .note("give these dimensions fixed sizes: model.dimensions"));
  }

  // The same numbers as the samples' polynomials have at these sizes; a form of fewer operations,
  // as tiny sizes have, is not compared.
  Result<bool> is_same_at(const Dimensions& sizes) {
    TFAOT_ASSIGN(const LoweredModel lowered, lower(sizes));
    TFAOT_ASSIGN(const Module module, make_module(lowered.computation.proto()));
    std::string difference;
    if (!have_same_form(*form_, *module, difference)) return true;
    const std::vector<std::int64_t> numbers = numbers_of(*module);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::vector<std::int64_t> values;
      for (const auto& sample : numbers_) values.push_back(sample.at(i));
      const auto [fitted, is_new] = fits_.try_emplace(values);
      if (is_new) fitted->second = SizePolynomial::through(points_, values);
      if (fitted->second && fitted->second->at(sizes) != numbers[i]) return false;
    }
    return true;
  }

  // At the smallest sizes, and where others may begin.
  Status check_range() {
    Dimensions smallest;
    for (const FreeDimension& one : own_) smallest.push_back(one.smallest);
    TFAOT_TRY(check_at(smallest));
    for (std::size_t d = 0; d < own_.size(); ++d) {
      Dimensions sizes = largest_sizes(own_);
      sizes[d] = own_[d].smallest;
      TFAOT_TRY(check_at(sizes));
      sizes[d] = own_[d].smallest + (own_[d].largest - own_[d].smallest) / 3;
      TFAOT_TRY(check_at(sizes));
    }
    return check_at(largest_sizes(own_));
  }

  Status check_at(const Dimensions& sizes) {
    auto is_same = is_same_at(sizes);
    if (!is_same) {
      return fail(std::move(is_same).error().note(fmt::format(
          "this is at {}, which compilation.dimensions allow", sizes_text(own_, sizes))));
    }
    if (*is_same) return {};
    Error error(fmt::format("at {} the model computes otherwise than at larger sizes",
                            sizes_text(own_, sizes)));
    TFAOT_TRY(note_where(sizes, error));
    return fail(std::move(error));
  }

  // Adds from which size on the model is the same.
  Status note_where(const Dimensions& sizes, Error& error) {
    for (std::size_t d = 0; d < own_.size(); ++d) {
      std::int64_t other = sizes[d];
      std::int64_t same = own_[d].largest;
      Dimensions point = largest_sizes(own_);
      while (other + 1 < same) {
        point[d] = other + (same - other) / 2;
        TFAOT_ASSIGN(const bool is_same, is_same_at(point));
        (is_same ? same : other) = point[d];
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
  std::vector<Dimensions> points_;                  // of the samples
  Module first_;                                    // of the samples, optimised
  Module form_;                                     // the same as lowered
  std::vector<std::vector<std::int64_t>> numbers_;  // of each sample as lowered
  std::map<std::vector<std::int64_t>, std::optional<SizePolynomial>> fits_;
};

}  // namespace

JobModel at_sizes(const JobModel& job, const Dimensions& sizes) {
  JobModel model = job;
  for (DimensionSize& size : sizes_by_name(job.free_dimensions, sizes)) {
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
