// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/batch_runner.h"

#include <algorithm>
#include <cstring>

#include "tfaot/runtime/detail/call_check.h"
#include "tfaot/runtime/detail/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

void copy(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

BatchRunner::BatchRunner(const Description& description, const CpuChoice& cpu)
    : instance_(description, cpu),
      plan_(instance_.batch_plan()),
      sizes_(largest_sizes(description)),
      next_sizes_(sizes_),
      next_inputs_(description.input_count),
      next_outputs_(description.output_count),
      input_bytes_(description.input_count),
      output_bytes_(description.output_count),
      chunk_inputs_(description.input_count),
      chunk_outputs_(description.output_count) {
  find_row_bytes();
}

BatchRunner::BatchRunner(const BatchRunner& like, Sibling)
    : instance_(like.instance_.sibling()),
      plan_(like.plan_),
      sizes_(like.sizes_),
      next_sizes_(sizes_),
      next_inputs_(like.next_inputs_),
      next_outputs_(like.next_outputs_),
      input_bytes_(like.input_bytes_),
      output_bytes_(like.output_bytes_),
      chunk_inputs_(description().input_count),
      chunk_outputs_(description().output_count) {
  instance_.set_sizes(sizes_.data());
}

BatchRunner::BatchRunner(BatchRunner&& other) noexcept = default;
BatchRunner& BatchRunner::operator=(BatchRunner&& other) noexcept = default;
BatchRunner::~BatchRunner() = default;

std::size_t BatchRunner::find_program(std::size_t batch_size) const noexcept {
  const std::vector<std::size_t>& sizes = plan_.sizes();
  return static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), batch_size) -
                                  sizes.begin());
}

void BatchRunner::set_largest_sizes() noexcept {
  for (std::size_t i = 0; i < sizes_.size(); ++i) sizes_[i] = description().dimensions[i].largest;
  instance_.set_sizes(sizes_.data());
  find_row_bytes();
}

void BatchRunner::set_sizes(const std::int64_t* sizes) {
  if (std::equal(sizes_.begin(), sizes_.end(), sizes)) return;
  detail::check_sizes(description(), sizes);
  std::copy_n(sizes, sizes_.size(), sizes_.begin());
  instance_.set_sizes(sizes);
  find_row_bytes();
}

// For all calls at these sizes: some nets take less time than their formulas.
void BatchRunner::find_row_bytes() noexcept {
  const Description& model = description();
  for (std::size_t i = 0; i < model.input_count; ++i) {
    input_bytes_[i] = bytes_of_row(model.inputs[i]);
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    output_bytes_[i] = bytes_of_row(model.outputs[i]);
  }
}

void BatchRunner::set_strategy(const BatchStrategy& strategy) {
  for (const auto& [size, rule] : strategy.rules()) check_rule(rule, plan_, description().name);
  strategy_ = strategy;
}

void BatchRunner::set_rule(const BatchRule& rule) {
  check_rule(rule, plan_, description().name);
  strategy_.setRule(rule);
}

void BatchRunner::compose(std::size_t rows, const void* const* inputs, void* const* outputs) {
  if (rows > 0) plan_.check(rows, description().name);
  const BatchRule* rule = strategy_.findRule(rows);
  return rule == nullptr ? run_plan(rows, inputs, outputs) : run_rule(*rule, inputs, outputs);
}

void BatchRunner::run_rule(const BatchRule& rule, const void* const* inputs, void* const* outputs) {
  std::size_t first = 0;
  for (const std::size_t size : rule.getSizes()) {
    const std::size_t rows = std::min(size, rule.getBatchSize() - first);
    run_chunk({find_program(size), first, rows}, inputs, outputs);
    first += rows;
  }
}

void BatchRunner::run_plan(std::size_t rows, const void* const* inputs, void* const* outputs) {
  for (std::size_t first = 0; first < rows;) {
    const std::size_t program = plan_.next(rows - first);
    const std::size_t taken = std::min(batch_sizes()[program], rows - first);
    run_chunk({program, first, taken}, inputs, outputs);
    first += taken;
  }
}

void BatchRunner::run_chunk(const Chunk& chunk, const void* const* inputs, void* const* outputs) {
  const Description& model = description();
  const std::size_t size = batch_sizes()[chunk.program];
  const bool padded = chunk.rows < size;
  // Code for free sizes reads and writes beyond the tensors.
  const bool in_place = !padded && sizes_.empty();
  for (std::size_t i = 0; i < model.input_count; ++i) {
    const std::size_t bytes = input_bytes_[i];
    const std::byte* from = static_cast<const std::byte*>(inputs[i]) + chunk.first * bytes;
    chunk_inputs_[i] = from;
    if (in_place && aligned(&chunk_inputs_[i], 1)) continue;
    make_staging();
    std::byte* staged = static_cast<std::byte*>(staged_inputs_.data(i));
    copy(staged, from, chunk.rows * bytes);
    if (padded && bytes != 0)
      std::memset(staged + chunk.rows * bytes, 0, (size - chunk.rows) * bytes);
    chunk_inputs_[i] = staged;
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    const std::size_t bytes = output_bytes_[i];
    chunk_outputs_[i] = static_cast<std::byte*>(outputs[i]) + chunk.first * bytes;
    if (in_place && aligned(&chunk_outputs_[i], 1)) continue;
    make_staging();
    chunk_outputs_[i] = staged_outputs_.data(i);
  }
  instance_.run(chunk.program, chunk_inputs_.data(), chunk_outputs_.data(), chunk.rows);
  for (std::size_t i = 0; i < model.output_count; ++i) {
    const std::size_t bytes = output_bytes_[i];
    std::byte* to = static_cast<std::byte*>(outputs[i]) + chunk.first * bytes;
    if (chunk_outputs_[i] != to) copy(to, chunk_outputs_[i], chunk.rows * bytes);
  }
}

void BatchRunner::prepare(std::size_t rows) {
  make_staging();
  const Description& model = description();
  const std::size_t largest = batch_sizes().back();
  const auto touch = [largest](const TensorBlock& block, const TensorInfo* infos,
                               std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (row_bytes(infos[i]) != 0) std::memset(block.data(i), 0, largest * row_bytes(infos[i]));
    }
  };
  touch(staged_inputs_, model.inputs, model.input_count);
  touch(staged_outputs_, model.outputs, model.output_count);
  while (rows > 0) {
    const std::size_t program = plan_.next(rows);
    instance_.touch_scratch(program);
    rows -= std::min(rows, batch_sizes()[program]);
  }
}

void BatchRunner::make_staging() {
  if (!staged_inputs_.empty() || !staged_outputs_.empty()) return;
  const Description& model = description();
  staged_inputs_ = TensorBlock(model.inputs, model.input_count, batch_sizes().back());
  staged_outputs_ = TensorBlock(model.outputs, model.output_count, batch_sizes().back());
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
