// SPDX-License-Identifier: Apache-2.0
#include "tfaot/load/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "tfaot/base/text.h"
#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/machine_ways.h"
#include "tfaot/runtime/detail/select_code.h"
#include "tfaot/runtime/error.h"

namespace tfaot::toolkit {
namespace {

// Without the category, which is of the C++ interface: "InputMismatch: ...".
Error error_of(const ::tfaot::Error& error) {
  const std::string text = error.what();
  const std::string category = error.category() + ": ";
  return Error(text.starts_with(category) ? text.substr(category.size()) : text);
}

// Each task on a thread of its own; the first one on the caller's.
void run_on_threads(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back([&task, i] { task(i); });
  task(0);
}
const ::tfaot::Executor& executor() {
  static const ::tfaot::Executor kExecutor = run_on_threads;
  return kExecutor;
}

// The runtime's own message would speak of an environment variable.
Status check_level(const LoadedModel& model, const std::string& level) {
  const std::vector<std::string>& levels = model.manifest().cpu_levels;
  const std::vector<std::string> runnable = runnable_levels(model.compiled());
  if (contains(runnable, level)) return {};
  const bool compiled = contains(levels, level);
  Error error(compiled ? fmt::format("this CPU cannot run the level '{}'", level)
                       : fmt::format("model '{}' has no code for the level '{}'",
                                     model.manifest().name, level));
  return fail(std::move(error).note(fmt::format("compiled levels: {}; this CPU can run: {}",
                                                join(levels, ", "),
                                                runnable.empty() ? "none" : join(runnable, ", "))));
}

}  // namespace

// Without a kernel here, nothing else asks the machine.
std::string instructions_in_use() {
  std::string all = tfaot_machine_ways == 0 ? "" : tfaot_machine_instructions[0];
  const std::string_view more = tfaot_machine_ways == 0 ? "" : tfaot_machine_instructions[1];
  if (!all.empty() && !more.empty()) all += " ";
  return all.append(more);
}

std::vector<std::string> runnable_levels(const CompiledModel& model) {
  std::vector<std::string> levels;
  for (const CompiledCode& code : model.codes) {
    if (code.batch_size != model.batch_sizes.front()) continue;  // all have the same levels
    const std::string features = join(code.cpu_features, " ");
    ::tfaot::Code asked{};
    asked.cpu_level = code.cpu_level.c_str();
    asked.cpu_features = features.c_str();
    if (::tfaot::can_run(asked, ::tfaot::this_cpu())) levels.push_back(code.cpu_level);
  }
  return levels;
}

Result<Predictor> Predictor::create(std::shared_ptr<const LoadedModel> model,
                                    const PredictorOptions& options) {
  if (!options.cpu_level.empty()) TFAOT_TRY(check_level(*model, options.cpu_level));
  try {
    const ::tfaot::CpuChoice cpu = options.cpu_level.empty()
                                       ? ::tfaot::this_cpu()
                                       : ::tfaot::this_cpu().at_level(options.cpu_level);
    ::tfaot::BatchRunner runner(model->description(), cpu);
    for (const std::string& rule : options.batch_rules) runner.set_rule(rule);
    return Predictor(std::move(model), std::move(runner));
  } catch (const ::tfaot::Error& error) {
    return fail(error_of(error));
  }
}

Predictor Predictor::sibling() const {
  ::tfaot::BatchRunner runner = runner_.sibling();
  runner.set_strategy(runner_.strategy());
  return {model_, std::move(runner)};
}

void Predictor::share(Shared shared, std::size_t threads) {
  share_nothing();
  if (shared == Shared::kRows) {
    rows_ = std::make_unique<::tfaot::ParallelRunner>(
        runner_, ::tfaot::Parallelism{.executor = executor(), .tasks = threads, .min_rows = 1});
    return;
  }
  std::size_t lane_bytes = 0;
  for (std::size_t i = 0; i < runner_.batch_sizes().size(); ++i) {
    lane_bytes = std::max(lane_bytes, runner_.instance().code(i).lane_bytes);
  }
  kernels_ = std::make_unique<::tfaot::KernelTasks>(executor(), threads, lane_bytes);
  runner_.share_kernels(kernels_->tasks());
}

void Predictor::share_nothing() {
  runner_.share_kernels(nullptr);
  rows_.reset();
  kernels_.reset();
}

Status Predictor::run(std::uint64_t rows, const std::vector<const void*>& inputs,
                      const std::vector<void*>& outputs, const std::int64_t* sizes) {
  try {
    sizes == nullptr ? runner_.set_largest_sizes() : runner_.set_sizes(sizes);
    if (rows_) {
      rows_->run(runner_, rows, inputs.data(), outputs.data());
    } else {
      runner_.run(rows, inputs.data(), outputs.data());
    }
    if (kernels_) kernels_->rethrow();
    return {};
  } catch (const ::tfaot::Error& error) {
    return fail(error_of(error));
  }
}

Status Predictor::run_ragged(std::uint64_t rows,
                             const std::vector<::tfaot::Span<const std::size_t>>& offsets,
                             const std::vector<::tfaot::BatchRunner::RaggedInput>& inputs,
                             const std::vector<::tfaot::BatchRunner::RaggedOutput>& outputs) {
  try {
    const ::tfaot::BatchRunner::RaggedCall call{rows, offsets.data(), inputs.data(),
                                                outputs.data()};
    rows_ ? rows_->run_ragged(runner_, call) : runner_.run_ragged(call);
    if (kernels_) kernels_->rethrow();
    return {};
  } catch (const ::tfaot::Error& error) {
    return fail(error_of(error));
  }
}

}  // namespace tfaot::toolkit
