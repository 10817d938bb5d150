// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "compiler/hlo/simplify.h"
#include "compiler/rows/row_flow.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::array<std::int64_t, 12> kPrimes = {5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43};

// Two batch sizes of which no dimension of the model is a multiple.
std::pair<std::int64_t, std::int64_t> sizes_of(const LoweredModel& lowered) {
  Dimensions used;
  const auto add = [&](const xla::Shape& shape, int from) {
    for (int d = from; d < shape.rank(); ++d) used.push_back(shape.dimensions(d));
  };
  const auto inputs = static_cast<int>(lowered.inputs.size());
  for (int i = 0; i < lowered.shape.parameters_size(); ++i) {
    add(lowered.shape.parameters(i), i < inputs ? 1 : 0);
  }
  for (const auto& output : lowered.shape.result().tuple_shapes()) add(output, 1);
  Dimensions free;
  for (const auto prime : kPrimes) {
    const bool taken = std::any_of(used.begin(), used.end(), [&](std::int64_t size) {
      return size >= prime && size % prime == 0;
    });
    if (!taken) free.push_back(prime);
  }
  free.insert(free.end(), {47, 53});
  return {free[0], free[1]};
}

class RowCheck {
 public:
  RowCheck(const Lowering& lowering, const WeightStore& weights, const RowMessages& messages)
      : lowering_(lowering), weights_(weights), messages_(messages) {}

  // `sized`: the model at one of the batch sizes, or at one row.
  Status at_two_sizes(std::pair<std::int64_t, std::int64_t> sizes, const SizedModel& sized,
                      const std::vector<std::int64_t>& batch_sizes) {
    TFAOT_ASSIGN(const auto small, lowering_.lower(sizes.first));
    TFAOT_ASSIGN(const auto large, lowering_.lower(sizes.second));
    TFAOT_ASSIGN(const auto module, simplified(small));
    TFAOT_ASSIGN(const auto twin, simplified(large));
    const RowSizes differences = compare_sizes(*module, *twin, sizes);
    const SizedModel first = {&small, sizes.first};
    TFAOT_TRY(judge(*module, differences, first, SizedModel{&large, sizes.second}));
    TFAOT_ASSIGN(const auto raw, as_lowered(small));
    TFAOT_ASSIGN(const auto raw_twin, as_lowered(large));
    std::set<std::int64_t> others(batch_sizes.begin(), batch_sizes.end());
    others.insert(1);
    for (const std::int64_t rows : others) {
      std::optional<LoweredModel> made;
      if (rows != sized.rows) {
        auto lowered = lowering_.lower(rows);
        if (!lowered) continue;  // one row never runs alone, or compiling this size says why
        made = *std::move(lowered);
      }
      const SizedModel other = {made ? &*made : sized.lowered, rows};
      TFAOT_TRY(same_output_rows(first, other));
      TFAOT_ASSIGN(const auto as_it_is, as_lowered(*other.lowered));
      if (difference_at({*as_it_is, rows}, *raw, *raw_twin, sizes) == nullptr) continue;
      TFAOT_ASSIGN(const auto simple, simplified(*other.lowered));
      const auto* const at = difference_at({*simple, rows}, *module, *twin, sizes);
      if (at != nullptr) TFAOT_TRY(judge_difference(*at, first, other));
    }
    return {};
  }

  Status at_one_size(const LoweredModel& lowered, std::int64_t batch_size) {
    TFAOT_ASSIGN(const auto module, simplified(lowered));
    return judge(*module, {}, {&lowered, batch_size}, std::nullopt);
  }

 private:
  static Result<std::unique_ptr<xla::HloModule>> simplified(const LoweredModel& lowered) {
    TFAOT_ASSIGN(auto module, as_lowered(lowered));
    TFAOT_TRY(simplify(*module));
    return module;
  }

  // A branch or a loop that goes by the number of rows is written out while lowering, so a row
  // alone, or those of one batch size, may get other operations than the rows of the two sizes.
  Status judge_difference(const xla::HloInstruction& at, const SizedModel& model,
                          const SizedModel& other) {
    const std::string rows = other.rows == 1 ? "a row alone" : fmt::format("{} rows", other.rows);
    const RowCause cause{&at, fmt::format("is another operation for {}, or is missing", rows),
                         false};
    std::vector<RowDoubt> doubts;
    for (std::size_t i = 0; i < model.lowered->outputs.size(); ++i) {
      doubts.push_back({model.lowered->outputs[i].name, i, &cause});
    }
    return judge_rows(doubts, try_sizes(model, other, weight_reader()), messages_);
  }

  static Result<std::unique_ptr<xla::HloModule>> as_lowered(const LoweredModel& lowered) {
    return make_module(lowered.computation.proto());
  }

  std::function<Result<Value>(std::size_t)> weight_reader() const {
    return [this](std::size_t i) { return weights_.value(i); };
  }

  Status judge(const xla::HloModule& module, const RowSizes& differences, const SizedModel& model,
               const std::optional<SizedModel>& other) {
    RowStudy study(model.rows, differences);
    const auto& outputs = model.lowered->outputs;
    const auto causes = follow_rows(module, std::ssize(model.lowered->inputs), study);
    std::vector<RowDoubt> doubts;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      if (causes[i] != nullptr) doubts.push_back({outputs[i].name, i, causes[i]});
    }
    if (doubts.empty()) return {};
    return judge_rows(doubts, try_rows(model, other, weight_reader()), messages_);
  }

  const Lowering& lowering_;
  const WeightStore& weights_;
  const RowMessages& messages_;
};

}  // namespace

Status check_rows_alone(const Lowering& lowering, const SizedModel& sized,
                        const std::vector<std::int64_t>& batch_sizes, const WeightStore& weights,
                        const RowMessages& messages) {
  RowCheck check(lowering, weights, messages);
  if (!lowering.has_fixed_batch()) {
    return check.at_two_sizes(sizes_of(*sized.lowered), sized, batch_sizes);
  }
  // In a batch of one row, each row is alone.
  return sized.rows == 1 ? Status() : check.at_one_size(*sized.lowered, sized.rows);
}

}  // namespace tfaot::toolkit::engine
