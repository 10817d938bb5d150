// SPDX-License-Identifier: Apache-2.0
// The native API: contiguous row-major memory of the caller for inputs and outputs. Types and names
// are checked at compile time, sizes at run time.
//   tfaot::native::Model<tfaot_model::tagger> model;
//   model.run(rows, {.x = x, .ids = ids}, {.y = y});                // C++20
//   model.run(rows, tfaot::inputs(x, ids), tfaot::outputs(y));      // C++17, in the model's order
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/runtime/batching.h"
#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/arguments.h"
#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/detail/call_check.h"
#include "tfaot/runtime/detail/one_user.h"
#include "tfaot/runtime/detail/parallel_runner.h"
#include "tfaot/runtime/parallel.h"
#include "tfaot/runtime/signature.h"
#include "tfaot/runtime/span.h"
#include "tfaot/runtime/tensors_in_order.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// The API for new code. tfaot::Model has CMSSW's calls.
namespace native {

/// A model that works on the caller's memory. `M` is the class in the package's `model.h`.
///
/// **Memory.** Tensors are contiguous and row-major, the rows of a batch one after another. Memory
/// that is aligned to 16 bytes is used in place. run() allocates nothing, except staging memory for
/// unaligned tensors and padded batches, once, on first use.
///
/// **Threads.** One model is for one thread at a time: make one for each thread. All of them share
/// code and weights. Models can be moved, not copied.
template <class M>
class Model {
 public:
  /// The inputs by name: a struct with a `Span<const T>` for each, in the model's order, named like
  /// the input as far as C++ allows. `model.h` lists the names.
  using Inputs = typename detail::TensorsOf<typename M::Inputs>::Inputs;
  /// The outputs by name: a struct with a `Span<T>` for each, like Inputs.
  using Outputs = typename detail::TensorsOf<typename M::Outputs>::Outputs;

  /// The sizes of the free dimensions (`compilation.dimensions`), by name: `{.n_tracks = 37}`. Only
  /// of models that have some.
  using Sizes = typename detail::SizesOf<M>::Sizes;
  /// For each free dimension, where the elements of each row begin in a sample: `rows` + 1 offsets,
  /// the first 0. Row i has the size `offsets[i + 1] - offsets[i]`.
  using Offsets = typename detail::SizesOf<M>::Offsets;

  /// Chooses the best code for this CPU. Throws Error (UnsupportedCpu) if there is none.
  Model() : runner_(M::description()) {}
  /// The same with your own choice.
  explicit Model(const CpuChoice& cpu) : runner_(M::description(), cpu) {}

  /// Runs `rows` rows, by name: `model.run(rows, {.x = x}, {.y = y})`. In C++17, without
  /// designators: `Model::Inputs in; in.x = x;` and the same for the outputs.
  ///
  /// Each tensor holds exactly `rows` rows. `rows` may be any number, including 0: other numbers
  /// are composed of compiled sizes. Only if rows are coupled must it be a compiled size.
  ///
  /// Throws Error before anything runs: InputMismatch or OutputMismatch, naming the tensor, if one
  /// has another length or is missing; UnknownBatchSize for coupled rows. Throws Error
  /// (ConcurrentUse) if two threads run this model at once.
  ///
  /// REQUIRES: outputs do not overlap each other or an input.
  void run(std::size_t rows, const Inputs& inputs, const Outputs& outputs) {
    run_all(rows, detail::in_order(inputs), detail::in_order(outputs));
  }

  /// Runs `rows` rows that all have these sizes: `model.run(rows, {.n_tracks = 37}, {.x = x}, {.y =
  /// y})`. Each tensor holds exactly `rows` rows of these sizes, one after another. The results are
  /// those of the model compiled for these sizes alone (docs/dimensions.md).
  ///
  /// Throws as above, and Error (SizeOutOfRange), naming the dimension, before anything runs.
  void run(std::size_t rows, const Sizes& sizes, const Inputs& inputs, const Outputs& outputs) {
    const auto in_order = sizes.in_order();
    run_all(rows, detail::in_order(inputs), detail::in_order(outputs), in_order.data());
  }
  /// The same in the model's order, for C++17.
  template <class... In, class... Out>
  void run(std::size_t rows, const Sizes& sizes, const std::tuple<Span<In>...>& inputs,
           const std::tuple<Span<Out>...>& outputs) {
    detail::CheckTypes<detail::InputOfRun, InputTypes, std::remove_const_t<In>...>();
    detail::CheckTypes<detail::OutputOfRun, OutputTypes, Out...>();
    const auto in_order = sizes.in_order();
    run_all(rows, inputs, outputs, in_order.data());
  }

  /// Runs rows of different sizes: `model.run_ragged(rows, {.n_tracks = offsets}, {.x = x},
  /// {.y = y})`. Each tensor holds the rows one after another, without padding, the outputs in the
  /// order of the inputs. Tasks of set_parallelism() share the rows. Throws as above before
  /// anything runs.
  void run_ragged(std::size_t rows, const Offsets& offsets, const Inputs& inputs,
                  const Outputs& outputs) {
    const auto in_order = offsets.in_order();
    ragged(rows, in_order.data(), detail::in_order(inputs), detail::in_order(outputs),
           std::make_index_sequence<InputTypes::kSize>(),
           std::make_index_sequence<OutputTypes::kSize>());
  }

  /// The same in the model's order: `model.run(rows, tfaot::inputs(x, ids), tfaot::outputs(y))`.
  /// Inputs of one type and shape can be swapped here without an error, unlike by name.
  template <class... In, class... Out>
  void run(std::size_t rows, const std::tuple<Span<In>...>& inputs,
           const std::tuple<Span<Out>...>& outputs) {
    constexpr bool kEnoughIn = sizeof...(In) == InputTypes::kSize;
    constexpr bool kEnoughOut = sizeof...(Out) == OutputTypes::kSize;
    static_assert(kEnoughIn, "run() got another number of inputs than the model has");
    static_assert(kEnoughOut, "run() got another number of outputs than the model has");
    if constexpr (kEnoughIn && kEnoughOut) {
      detail::CheckTypes<detail::InputOfRun, InputTypes, std::remove_const_t<In>...>();
      detail::CheckTypes<detail::OutputOfRun, OutputTypes, Out...>();
      run_all(rows, inputs, outputs);
    }
  }

  /// The same for a model with one input and one output: `model.run(rows, x, y)`.
  template <class In, class Out>
  auto run(std::size_t rows, const In& input, Out&& output)
      -> decltype(tfaot::inputs(input), tfaot::outputs(std::forward<Out>(output)), void()) {
    run(rows, tfaot::inputs(input), tfaot::outputs(std::forward<Out>(output)));
  }

  /// One run of a model that has no batch (`compilation.batch: none`), by name:
  /// `model.run({.x = x}, {.y = y})`. Each tensor holds exactly its elements. Throws like the calls
  /// above, which run several independent sets of tensors, one after another in memory.
  void run(const Inputs& inputs, const Outputs& outputs) {
    check_no_batch();
    run(1, inputs, outputs);
  }
  /// The same in the model's order: `model.run(tfaot::inputs(x, ids), tfaot::outputs(y))`.
  template <class... In, class... Out>
  void run(const std::tuple<Span<In>...>& inputs, const std::tuple<Span<Out>...>& outputs) {
    check_no_batch();
    run(1, inputs, outputs);
  }
  /// The same for a model with one input and one output: `model.run(x, y)`.
  template <class In, class Out>
  auto run(const In& input, Out&& output)
      -> decltype(tfaot::inputs(input), tfaot::outputs(std::forward<Out>(output)), void()) {
    run(tfaot::inputs(input), tfaot::outputs(std::forward<Out>(output)));
  }

  /// For code that must answer in time: after it, run() allocates nothing, whatever the number and
  /// alignment of rows, takes no lock and makes no system call. Memory that calls of `rows` rows
  /// use is touched, so the system need not give it later. Call it again after set_parallelism(),
  /// whose executor has its own rules.
  void prepare(std::size_t rows) {
    runner_.prepare(rows);
    if (parallel_ != nullptr) parallel_->prepare(rows);
  }

  /// Names, element types and shapes of the inputs and outputs, in the model's order. The same for
  /// all models of the class, so it needs no object.
  static Signature signature() noexcept { return detail::signature_of(M::description()); }

  /// The model's name, `model.name` of the config.
  std::string_view name() const noexcept { return runner_.description().name; }
  /// The model's version, `model.version` of the config, such as "1.0.0".
  std::string_view version() const noexcept { return runner_.description().version; }
  /// Numbers of rows that have compiled code, ascending.
  const std::vector<std::size_t>& batch_sizes() const noexcept { return runner_.batch_sizes(); }
  /// The CPU level in use, such as "x86-64-v3".
  const char* cpu_level() const noexcept { return runner_.instance().cpu_level(0); }

  /// Name, version number and hash of the package, as `tfaot info --record` prints them, and
  /// cpu_level(). Compare them with what a database says.
  ModelRecord record() const noexcept {
    return detail::record_of(runner_.description(), cpu_level());
  }

  /// Sets how batches of one size are composed from now on, instead of the cheapest way. Throws
  /// Error: UnknownBatchSize if the rule uses a size that is not compiled, InvalidBatchRule if it
  /// composes a batch of coupled rows.
  void set_batch_rule(const BatchRule& rule) { runner_.set_rule(rule); }
  /// Replaces all rules. Throws like set_batch_rule().
  void set_batch_strategy(const BatchStrategy& strategy) { runner_.set_strategy(strategy); }
  /// The rules that were set.
  const BatchStrategy& batch_strategy() const noexcept { return runner_.strategy(); }

  /// From now on, splits each call into tasks for your threads: by rows, or by the work of each
  /// large kernel, whichever costs less. Small calls, and batches with an explicit rule, stay on
  /// the calling thread. Off by default, without an executor, and for a single task. Allocates the
  /// memory of all tasks; run() then allocates nothing.
  void set_parallelism(Parallelism parallelism) {
    parallel_ = std::make_unique<ParallelRunner>(runner_, std::move(parallelism));
  }

 private:
  using InputTypes = typename detail::TensorsOf<typename M::Inputs>::Types;
  using OutputTypes = typename detail::TensorsOf<typename M::Outputs>::Types;

  // A template, so that only calls of run() without rows are checked.
  template <class Checked = M>
  static constexpr void check_no_batch() noexcept {
    static_assert(!detail::kHasBatch<Checked>,
                  "run() of a model with a batch takes the number of rows first");
  }

  // Both are tuples of spans, or of references to spans, in the model's order. `sizes`: of the free
  // dimensions.
  template <class In, class Out>
  void run_all(std::size_t rows, const In& inputs, const Out& outputs,
               const std::int64_t* sizes = nullptr) {
    run_spans({rows, sizes}, inputs, outputs, std::make_index_sequence<InputTypes::kSize>(),
              std::make_index_sequence<OutputTypes::kSize>());
  }
  struct Rows {
    std::size_t count;
    const std::int64_t* sizes;
  };
  template <class In, class Out, std::size_t... I, std::size_t... O>
  void run_spans(Rows rows, const In& inputs, const Out& outputs, std::index_sequence<I...>,
                 std::index_sequence<O...>) {
    using detail::Direction;
    const Description& model = runner_.description();
    const OneUser::Call call(user_);
    detail::check_alone(call, model.name);
    if constexpr (detail::SizesOf<M>::kFree) {
      // Without sizes: the largest.
      rows.sizes == nullptr ? runner_.set_largest_sizes() : runner_.set_sizes(rows.sizes);
    }
    (detail::check_elements(model, {Direction::kInput, I, rows.count, std::get<I>(inputs).size(),
                                    row_elements<InputTypes, I>(model.inputs)}),
     ...);
    (detail::check_elements(model, {Direction::kOutput, O, rows.count, std::get<O>(outputs).size(),
                                    row_elements<OutputTypes, O>(model.outputs)}),
     ...);
    // One element more, because a tuple may be empty.
    const void* const in[] = {std::get<I>(inputs).data()..., nullptr};
    void* const out[] = {std::get<O>(outputs).data()..., nullptr};
    if (parallel_ != nullptr && !runner_.strategy().hasRule(rows.count)) {
      parallel_->run(runner_, rows.count, in, out);
    } else {
      runner_.run(rows.count, in, out);
    }
    detail::check_alone(call, model.name);
  }
  template <class Types, std::size_t kIndex>
  std::size_t row_elements(const TensorInfo* tensors) const noexcept {
    if constexpr (detail::SizesOf<M>::kFree) return runner_.row_elements(tensors[kIndex]);
    return detail::Spans<Types>::kRowElements[kIndex];
  }

  template <class In, class Out, std::size_t... I, std::size_t... O>
  void ragged(std::size_t rows, const Span<const std::size_t>* offsets, const In& inputs,
              const Out& outputs, std::index_sequence<I...>, std::index_sequence<O...>) {
    const char* const name = runner_.description().name;
    const OneUser::Call call(user_);
    detail::check_alone(call, name);
    const BatchRunner::RaggedInput in[] = {
        {std::get<I>(inputs).data(), std::get<I>(inputs).size()}..., {}};
    const BatchRunner::RaggedOutput out[] = {
        {std::get<O>(outputs).data(), std::get<O>(outputs).size()}..., {}};
    const BatchRunner::RaggedCall ragged_call{rows, offsets, in, out};
    if (parallel_ != nullptr && runner_.strategy().rules().empty()) {
      parallel_->run_ragged(runner_, ragged_call);
    } else {
      runner_.run_ragged(ragged_call);
    }
    detail::check_alone(call, name);
  }

  BatchRunner runner_;
  std::unique_ptr<ParallelRunner> parallel_;
  OneUser user_;
};

}  // namespace native
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
