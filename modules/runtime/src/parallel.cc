// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/parallel_runner.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "tfaot/runtime/detail/tensor.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

// Picoseconds that tasks must save to be worth their threads: several times the cost of waking one.
constexpr double kWorthwhile = 20e6;
// Kernels that share take longer than the number of tasks suggests, by this factor: their pieces
// end at different times, and are handed out anew for each call of a kernel.
constexpr double kKernelLoss = 1.1;
// The fewest rows of a task if no costs are known.
constexpr std::size_t kRowsOfUnknownCost = 128;
// Pieces of a ragged call for each task: the last ones to end are this small a part of its work.
constexpr std::size_t kRaggedPieces = 8;

std::size_t round_up(std::size_t value, std::size_t factor) {
  return (value + factor - 1) / factor * factor;
}

[[noreturn]] void throw_missing() {
  throw Error(Category::kFailedRun,
              "the executor left out tasks, so outputs are missing; was it cancelled?");
}

// Lets the kernels of a runner share their work while the object lives.
class Sharing {
 public:
  Sharing(BatchRunner& runner, Tasks* tasks) noexcept : runner_(runner) {
    runner_.share_kernels(tasks);
  }
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;
  ~Sharing() { runner_.share_kernels(nullptr); }

 private:
  BatchRunner& runner_;
};

std::size_t aligned_rows(const Description& model) {
  std::size_t rows = 1;
  const auto take = [&](const TensorInfo& tensor) {
    const std::size_t bytes = row_bytes(tensor);
    while (rows * bytes % kMinAlignment != 0) rows *= 2;
  };
  std::for_each(model.inputs, model.inputs + model.input_count, take);
  std::for_each(model.outputs, model.outputs + model.output_count, take);
  return rows;
}

std::size_t elements_of_row(const Description& model) {
  return std::accumulate(
      model.inputs, model.inputs + model.input_count, std::size_t{0},
      [](std::size_t sum, const TensorInfo& input) { return sum + input.row_elements; });
}

// The elements of a row, as a share of those at the largest sizes. Costs are those of the largest
// sizes, and most of them grow with the elements at least.
double share_of_largest(const Description& model, double elements) {
  const std::size_t largest = elements_of_row(model);
  return largest == 0 ? 1 : elements / static_cast<double>(largest);
}
double share_of_largest(const BatchRunner& runner) {
  const Description& model = runner.description();
  if (model.dimension_count == 0) return 1;
  std::size_t elements = 0;
  for (std::size_t i = 0; i < model.input_count; ++i) {
    elements += runner.row_elements(model.inputs[i]);
  }
  return share_of_largest(model, static_cast<double>(elements));
}

}  // namespace

ParallelRunner::ParallelRunner(const BatchRunner& like, Parallelism parallelism)
    : parallelism_(std::move(parallelism)),
      plan_(like.plan()),
      aligned_rows_(aligned_rows(like.description())) {
  const std::size_t tasks = parallelism_.tasks;
  if (!parallelism_.executor || tasks < 2) return;
  const Description& model = like.description();
  std::size_t lane_bytes = 0;
  bool shares = false;
  for (std::size_t i = 0; i < model.program_count; ++i) {
    const Code& code = like.instance().code(i);
    lane_bytes = std::max(lane_bytes, code.lane_bytes);
    shares = shares || code.shared_permille > 0;
  }
  for (const std::uint64_t cost : like.instance().costs()) {
    const double shared = like.instance().code(alone_.size()).shared_permille / 1000.0;
    alone_.push_back(static_cast<double>(cost));
    kernels_.push_back(alone_.back() *
                       (1 - shared + shared * kKernelLoss / static_cast<double>(tasks)));
  }
  if (parallelism_.min_rows == 0 && alone_.empty()) parallelism_.min_rows = kRowsOfUnknownCost;
  if (shares && parallelism_.min_rows == 0) {
    tasks_ = std::make_unique<KernelTasks>(parallelism_.executor, tasks, lane_bytes);
  }
  if (!plan_.composes()) return;
  lanes_.reserve(tasks);
  for (std::size_t i = 0; i < tasks; ++i) {
    lanes_.push_back({like.sibling(), std::vector<const void*>(model.input_count),
                      std::vector<void*>(model.output_count)});
    lanes_.back().runner.make_staging();
  }
}

void ParallelRunner::run(BatchRunner& alone, std::size_t rows, const void* const* inputs,
                         void* const* outputs) {
  const Way way = way_of(rows, share_of_largest(alone));
  if (way == Way::kRows) {
    for (Lane& lane : lanes_) lane.runner.set_sizes(alone.sizes().data());
    return run_rows(rows, inputs, outputs);
  }
  if (way == Way::kAlone) return alone.run(rows, inputs, outputs);
  {
    const Sharing sharing(alone, tasks_->tasks());
    alone.run(rows, inputs, outputs);
  }
  tasks_->rethrow();
}

ParallelRunner::Way ParallelRunner::way_of(std::size_t rows, double size) const noexcept {
  if (lanes_.empty() && tasks_ == nullptr) return Way::kAlone;
  if (!plan_.composes() &&
      std::find(plan_.sizes().begin(), plan_.sizes().end(), rows) == plan_.sizes().end()) {
    return Way::kAlone;  // which refuses it
  }
  if (parallelism_.min_rows == 0) return cheapest_way(rows, size);
  return !lanes_.empty() && rows / 2 >= parallelism_.min_rows ? Way::kRows : Way::kAlone;
}

ParallelRunner::Way ParallelRunner::cheapest_way(std::size_t rows, double size) const noexcept {
  Way best = Way::kAlone;
  double least = size * cost_of(rows, Way::kAlone) - kWorthwhile;
  const auto offer = [&](Way way, double cost) {
    if (size * cost >= least) return;
    least = size * cost;
    best = way;
  };
  if (least <= 0) return best;
  if (tasks_ != nullptr) offer(Way::kKernels, cost_of(rows, Way::kKernels));
  if (!lanes_.empty()) {
    const std::size_t share = share_of(rows);
    if (share < rows) offer(Way::kRows, cost_of(share, Way::kAlone));
  }
  return best;
}

// REQUIRES: the way is not kRows.
double ParallelRunner::cost_of(std::size_t rows, Way way) const noexcept {
  const std::vector<double>& costs = way == Way::kKernels ? kernels_ : alone_;
  double sum = 0;
  while (rows > 0) {
    const std::size_t program = plan_.next(rows);
    sum += costs[program];
    rows -= std::min(rows, plan_.sizes()[program]);
  }
  return sum;
}

void ParallelRunner::run_rows(std::size_t rows, const void* const* inputs, void* const* outputs) {
  const Job job{this, rows, share_of(rows), inputs, outputs};
  // A single pointer, which std::function stores without allocating.
  const std::function<void(std::size_t)> task = [&job](std::size_t i) {
    job.self->run_task(job, i);
  };
  const std::size_t tasks = (rows + job.share - 1) / job.share;
  for (std::size_t i = 0; i < tasks; ++i) lanes_[i].done = false;
  parallelism_.executor(tasks, task);
  const auto is_done = [](const Lane& lane) { return lane.done; };
  if (std::all_of(lanes_.data(), lanes_.data() + tasks, is_done)) return;
  throw_missing();
}

// If a share has several chunks, it is a multiple of the size that large batches use, so that only
// the last task has a remainder.
std::size_t ParallelRunner::share_of(std::size_t rows) const noexcept {
  const std::size_t fewest = std::max<std::size_t>(1, parallelism_.min_rows);
  const std::size_t tasks = std::min(lanes_.size(), rows / fewest);
  const std::size_t share = (rows + tasks - 1) / tasks;
  const std::size_t chunk = plan_.sizes()[plan_.next(std::numeric_limits<std::size_t>::max())];
  return round_up(share, share > chunk ? chunk : aligned_rows_);
}

void ParallelRunner::run_task(const Job& job, std::size_t task) {
  Lane& lane = lanes_[task];
  const Description& model = lane.runner.description();
  const std::size_t first = task * job.share;
  for (std::size_t i = 0; i < model.input_count; ++i) {
    lane.inputs[i] = static_cast<const std::byte*>(job.inputs[i]) +
                     first * lane.runner.bytes_of_row(model.inputs[i]);
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    lane.outputs[i] = static_cast<std::byte*>(job.outputs[i]) +
                      first * lane.runner.bytes_of_row(model.outputs[i]);
  }
  lane.runner.run(std::min(job.share, job.rows - first), lane.inputs.data(), lane.outputs.data());
  lane.done = true;
}

void ParallelRunner::run_ragged(BatchRunner& alone, const BatchRunner::RaggedCall& call) {
  const std::size_t tasks = ragged_tasks(alone.description(), call);
  if (tasks < 2) return alone.run_ragged(call);
  alone.check_ragged(call);
  const std::size_t share = (call.rows - 1) / (tasks * kRaggedPieces) + 1;
  RaggedJob job{this, call, share, (call.rows - 1) / share + 1};
  const std::function<void(std::size_t)> task = [&job](std::size_t i) {
    job.self->run_ragged_task(job, i);
  };
  parallelism_.executor(tasks, task);
  if (job.ended != job.pieces) throw_missing();
}

std::size_t ParallelRunner::ragged_tasks(const Description& model,
                                         const BatchRunner::RaggedCall& call) const noexcept {
  if (lanes_.empty()) return 1;
  if (parallelism_.min_rows != 0) {
    return std::min(lanes_.size(), call.rows / parallelism_.min_rows);
  }
  double elements = 0;
  for (std::size_t i = 0; i < model.input_count; ++i) {
    elements += static_cast<double>(call.inputs[i].elements);
  }
  const std::size_t tasks = std::min(lanes_.size(), call.rows);
  if (tasks < 2) return 1;
  const double cost = share_of_largest(model, elements) * cost_of(1, Way::kAlone);
  return cost - cost / static_cast<double>(tasks) > kWorthwhile ? tasks : 1;
}

void ParallelRunner::run_ragged_task(RaggedJob& job, std::size_t task) {
  BatchRunner& runner = lanes_[task].runner;
  runner.begin_ragged(job.call);
  for (std::size_t piece = job.next++; piece < job.pieces; piece = job.next++) {
    const std::size_t first = piece * job.share;
    runner.run_ragged_rows(job.call, first, std::min(job.call.rows, first + job.share));
    ++job.ended;
  }
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
