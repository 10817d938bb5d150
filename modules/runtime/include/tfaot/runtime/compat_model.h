// SPDX-License-Identifier: Apache-2.0
// The compatibility API: the calls of CMSSW's PhysicsTools/TensorFlowAOT, with one std::vector per
// row.
//   tfaot::Model<tfaot_model::test> model;
//   tfaot::FloatArrays output;
//   std::tie(output) = model.run<tfaot::FloatArrays>(rows, input);
// New code uses native::Model (native_model.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/runtime/batching.h"
#include "tfaot/runtime/detail/one_user.h"
#include "tfaot/runtime/detail/tensor.h"
#include "tfaot/runtime/util.h"
#include "tfaot/runtime/wrapper.h"

// For the headers of models that need CMSSW's tfaot::Model.
#define TFAOT_RUNTIME_COMPATIBLE_API

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

namespace detail {

// Each throws Error (InputMismatch, OutputMismatch), naming the tensor.
void check_counts(const Wrapper& wrapper, std::size_t input_count, std::size_t output_count);
void check_input(const Wrapper& wrapper, std::size_t index, DType dtype);
void check_output(const Wrapper& wrapper, std::size_t index, DType dtype);
struct RowCheck {
  std::size_t input, batch_size;
};
void check_rows(const Wrapper& wrapper, const RowCheck& check, std::size_t rows);
void check_row(const Wrapper& wrapper, const RowCheck& check, std::size_t row,
               std::size_t elements);
// Sets the sizes of the free dimensions at which a row of input i has elements[i] elements.
void infer_sizes(Wrapper& wrapper, const std::size_t* elements);

template <class Arrays>
std::size_t first_row_elements(const Arrays& rows) noexcept {
  return rows.empty() ? 0 : rows.front().size();
}

// float of FloatArrays.
template <class Arrays>
using ElementOf = typename std::decay_t<Arrays>::value_type::value_type;

}  // namespace detail

/// A model with the calls of CMSSW's PhysicsTools/TensorFlowAOT, for existing code. New code uses
/// native::Model, which copies nothing and has names. `W` is the class in the package's `model.h`.
///
/// Tensors are vectors, one for each row. Everything is checked at run time, before anything runs.
/// One model is for one thread at a time; models can be moved, not copied.
template <class W>
class Model {  // ambiguous? CMSSW's PhysicsTools/TensorFlowAOT was included too: docs/cmssw.md
 public:
  /// Throws Error (UnsupportedCpu).
  explicit Model() = default;

  /// The name of the wrapper.
  const std::string& name() const { return wrapper_.name(); }
  /// The model's version, such as "1.0.0". CMSSW's has no such call.
  std::string version() const { return wrapper_.description().version; }

  /// Name, version number and hash of the package, and the CPU level in use. CMSSW's has no such
  /// call.
  ModelRecord record() const { return wrapper_.record(); }

  /// Names, element types and shapes of the inputs and outputs. CMSSW's has no such call.
  static Signature signature() noexcept { return detail::signature_of(W::description()); }

  /// Replaces all rules. Throws Error: UnknownBatchSize for a size that is not compiled,
  /// InvalidBatchRule for coupled rows.
  void setBatchStrategy(const BatchStrategy& strategy) {
    for (const auto& [_, rule] : strategy.rules()) check_rule(rule, wrapper_.batchPlan(), name());
    strategy_ = strategy;
  }
  /// Sets the rule of one batch size. Throws as above, and as BatchRule.
  void setBatchRule(std::size_t batchSize, const std::vector<std::size_t>& sizes,
                    std::size_t lastPadding = 0) {
    set_rule(BatchRule(batchSize, sizes, lastPadding));
  }
  /// The same from text such as "5:2,4".
  void setBatchRule(const std::string& batchRule) { set_rule(BatchRule(batchRule)); }
  /// Contains the rules that were set, and the default rule of each batch size that was run.
  const BatchStrategy& getBatchStrategy() const { return strategy_; }

  /// Runs `batchSize` rows. `inputs[row][element]`: a vector for each row, flattened, in the order
  /// of the model's inputs; outputs likewise. The sizes of free dimensions follow from the lengths
  /// of the rows, which are equal in a call. Throws Error: InputMismatch, OutputMismatch;
  /// UnknownBatchSize if rows are coupled and `batchSize` is not compiled; ConcurrentUse if two
  /// threads run this model at once.
  template <class... Outputs, class... Inputs>
  std::tuple<Outputs...> run(std::size_t batchSize, Inputs&&... inputs) {
    const OneUser::Call call(user_);
    detail::check_alone(call, wrapper_.name().c_str());
    detail::check_counts(wrapper_, sizeof...(Inputs), sizeof...(Outputs));
    if (batchSize > 0 && wrapper_.description().dimension_count > 0) {
      const std::size_t elements[] = {detail::first_row_elements(inputs)..., 0};
      detail::infer_sizes(wrapper_, elements);
    }
    std::size_t index = 0;
    (check_input(index++, batchSize, inputs), ...);
    index = 0;
    (detail::check_output(wrapper_, index++, kDTypeOf<detail::ElementOf<Outputs>>), ...);
    std::tuple<Outputs...> outputs{Outputs(batchSize)...};
    if (batchSize == 0) return outputs;
    wrapper_.batchPlan().check(batchSize, wrapper_.name().c_str());
    if (!strategy_.hasRule(batchSize)) strategy_.setDefaultRule(batchSize, wrapper_.batchPlan());
    Chunk chunk{0, 0, 0};
    for (const std::size_t size : strategy_.getRule(batchSize).getSizes()) {
      chunk = {size, chunk.first + chunk.rows,
               std::min(size, batchSize - chunk.first - chunk.rows)};
      index = 0;
      (fill(chunk, index++, inputs), ...);
      wrapper_.run(size, chunk.rows);
      index = 0;
      std::apply([&](Outputs&... output) { (take(chunk, index++, output), ...); }, outputs);
    }
    detail::check_alone(call, wrapper_.name().c_str());
    return outputs;
  }

 private:
  // Rows first .. first + rows, run as a batch of `size`.
  struct Chunk {
    std::size_t size, first, rows;
  };

  void set_rule(const BatchRule& rule) {
    check_rule(rule, wrapper_.batchPlan(), wrapper_.name());
    strategy_.setRule(rule);
  }

  template <class Arrays>
  void check_input(std::size_t index, std::size_t batch_size, const Arrays& input) {
    const detail::RowCheck check{index, batch_size};
    detail::check_input(wrapper_, index, kDTypeOf<detail::ElementOf<Arrays>>);
    detail::check_rows(wrapper_, check, input.size());
    for (std::size_t row = 0; row < input.size(); ++row)
      detail::check_row(wrapper_, check, row, input[row].size());
  }

  template <class Arrays>
  void fill(const Chunk& chunk, std::size_t index, const Arrays& input) {
    using T = detail::ElementOf<Arrays>;
    T* to = wrapper_.template argData<T>(chunk.size, index);
    for (std::size_t i = 0; i < chunk.rows; ++i) {
      const auto& row = input[chunk.first + i];
      to = std::copy(row.begin(), row.end(), to);
    }
    std::fill_n(to, (chunk.size - chunk.rows) * wrapper_.argCountsNoBatch()[index], T{});
  }

  template <class Arrays>
  void take(const Chunk& chunk, std::size_t index, Arrays& output) {
    using T = detail::ElementOf<Arrays>;
    const T* from = wrapper_.template resultData<T>(chunk.size, index);
    const std::size_t elements = wrapper_.resultCountsNoBatch()[index];
    for (std::size_t i = 0; i < chunk.rows; ++i, from += elements)
      output[chunk.first + i].assign(from, from + elements);
  }

  W wrapper_;
  BatchStrategy strategy_;
  OneUser user_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
