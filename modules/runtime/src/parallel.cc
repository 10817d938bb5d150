// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/parallel_runner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tfaot/runtime/detail/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

// A multiple of this many rows of any tensor keeps the alignment of its first row.
constexpr std::size_t kAlignedRows = kMinAlignment;

std::size_t round_up(std::size_t value, std::size_t factor) {
  return (value + factor - 1) / factor * factor;
}

}  // namespace

ParallelRunner::ParallelRunner(const BatchRunner& like, Parallelism parallelism)
    : parallelism_(std::move(parallelism)) {
  if (!parallelism_.executor || !like.plan().composes()) return;
  parallelism_.min_rows = std::max<std::size_t>(1, parallelism_.min_rows);
  const Description& model = like.description();
  lanes_.reserve(parallelism_.tasks);
  for (std::size_t i = 0; i < parallelism_.tasks; ++i) {
    lanes_.push_back({like.sibling(), std::vector<const void*>(model.input_count),
                      std::vector<void*>(model.output_count)});
    lanes_.back().runner.make_staging();
  }
}

void ParallelRunner::run(std::size_t rows, const void* const* inputs, void* const* outputs) {
  const Job job{this, rows, share_of(rows), inputs, outputs};
  // A single pointer, which std::function stores without allocating.
  const std::function<void(std::size_t)> task = [&job](std::size_t i) {
    job.self->run_task(job, i);
  };
  parallelism_.executor((rows + job.share - 1) / job.share, task);
}

// Shares are whole chunks of the size that many rows are run in, if there are several, so that only
// the last task has a rest.
std::size_t ParallelRunner::share_of(std::size_t rows) const noexcept {
  const BatchPlan& plan = lanes_.front().runner.plan();
  const std::size_t tasks = std::min(lanes_.size(), rows / parallelism_.min_rows);
  const std::size_t share = (rows + tasks - 1) / tasks;
  const std::size_t chunk = plan.sizes()[plan.next(std::numeric_limits<std::size_t>::max())];
  return round_up(share, share > chunk ? chunk : kAlignedRows);
}

void ParallelRunner::run_task(const Job& job, std::size_t task) {
  Lane& lane = lanes_[task];
  const Description& model = lane.runner.description();
  const std::size_t first = task * job.share;
  for (std::size_t i = 0; i < model.input_count; ++i) {
    lane.inputs[i] =
        static_cast<const std::byte*>(job.inputs[i]) + first * row_bytes(model.inputs[i]);
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    lane.outputs[i] = static_cast<std::byte*>(job.outputs[i]) + first * row_bytes(model.outputs[i]);
  }
  lane.runner.run(std::min(job.share, job.rows - first), lane.inputs.data(), lane.outputs.data());
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
