// SPDX-License-Identifier: Apache-2.0
// The native API: contiguous row-major memory of the caller in and out, types and their number
// checked by the compiler, sizes at run time.
//   tfaot::native::Model<tfaot_model::test> model;
//   model.run(rows, tfaot::inputs(x, y), tfaot::outputs(p));   // std::vector<float> x, ...
// Memory aligned to 16 bytes is used in place; run() allocates nothing, but for staging memory when
// first needed (see BatchRunner). Thread-compatible: one model per thread; all share code and
// weights. Movable.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/runtime/batch_runner.h"
#include "tfaot/runtime/call_check.h"
#include "tfaot/runtime/one_user.h"
#include "tfaot/runtime/parallel.h"
#include "tfaot/runtime/span.h"
#include "tfaot/runtime/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

namespace detail {

template <class C>
using ElementIn = std::remove_pointer_t<decltype(std::data(std::declval<C&>()))>;

template <class List>
struct Spans;
template <class... Tensors>
struct Spans<TensorList<Tensors...>> {
  // Hidden, as g++ makes one symbol of it for the whole process else, and keeps its library loaded.
  TFAOT_HIDDEN static constexpr std::size_t kRowElements[] = {Tensors::kRowElements..., 0};
  using Const = std::tuple<Span<const typename Tensors::Element>...>;
  using Mutable = std::tuple<Span<typename Tensors::Element>...>;
};

}  // namespace detail

// The arguments of run(), in the order of the model's inputs and outputs: anything a Span is made
// from.
template <class... Tensors>
constexpr std::tuple<Span<const detail::ElementIn<const Tensors>>...> inputs(
    const Tensors&... tensors) noexcept {
  return {tensors...};
}
template <class... Tensors,
          class = std::enable_if_t<
              (std::is_convertible_v<Tensors, Span<detail::ElementIn<Tensors>>> && ...)>>
constexpr std::tuple<Span<detail::ElementIn<Tensors>>...> outputs(Tensors&&... tensors) noexcept {
  return {std::forward<Tensors>(tensors)...};
}

namespace native {

// M is a generated class; only its types and its description() are used.
template <class M>
class Model {
 public:
  using Inputs = typename detail::Spans<typename M::Inputs>::Const;
  using Outputs = typename detail::Spans<typename M::Outputs>::Mutable;

  // Throws Error (UnsupportedCpu).
  Model() : runner_(M::description()) {}
  explicit Model(const CpuChoice& cpu) : runner_(M::description(), cpu) {}

  // Each tensor holds exactly `rows` rows. Any number of rows will do: what is not compiled is
  // composed; where rows are coupled, compiled numbers alone will. Throws Error (InputMismatch,
  // OutputMismatch, UnknownBatchSize) before anything is run, and (ConcurrentUse) when two threads
  // run this model at once. REQUIRES: outputs overlap neither each other nor an input.
  void run(std::size_t rows, const Inputs& inputs, const Outputs& outputs) {
    run_all(rows, inputs, outputs, std::make_index_sequence<std::tuple_size_v<Inputs>>(),
            std::make_index_sequence<std::tuple_size_v<Outputs>>());
  }
  // Taken by arguments that do not suit the model alone, and says why they do not.
  template <class... In, class... Out,
            class = std::enable_if_t<!std::is_convertible_v<std::tuple<Span<In>...>, Inputs> ||
                                     !std::is_convertible_v<std::tuple<Span<Out>...>, Outputs>>>
  void run(std::size_t, const std::tuple<Span<In>...>&, const std::tuple<Span<Out>...>&) {
    constexpr bool kEnoughIn = sizeof...(In) == std::tuple_size_v<Inputs>;
    constexpr bool kEnoughOut = sizeof...(Out) == std::tuple_size_v<Outputs>;
    static_assert(kEnoughIn, "run() got another number of inputs than the model has");
    static_assert(kEnoughOut, "run() got another number of outputs than the model has");
    if constexpr (kEnoughIn && kEnoughOut) {
      detail::CheckTypes<detail::InputOfRun, typename M::Inputs, std::remove_const_t<In>...>();
      detail::CheckTypes<detail::OutputOfRun, typename M::Outputs, Out...>();
    }
  }

  std::string_view name() const noexcept { return runner_.description().name; }
  // model.version of the config, "1.0.0".
  std::string_view version() const noexcept { return runner_.description().version; }
  const std::vector<std::size_t>& batch_sizes() const noexcept { return runner_.batch_sizes(); }
  // The level in use, "x86-64-v3".
  const char* cpu_level() const noexcept { return runner_.instance().cpu_level(0); }

  // Throw Error: UnknownBatchSize when a rule names a size that is not compiled, InvalidBatchRule
  // when it composes a batch of coupled rows.
  void set_batch_rule(const BatchRule& rule) { runner_.set_rule(rule); }
  void set_batch_strategy(const BatchStrategy& strategy) { runner_.set_strategy(strategy); }
  const BatchStrategy& batch_strategy() const noexcept { return runner_.strategy(); }

  // From now on many rows are run as several tasks on the caller's threads; batches that a rule was
  // set for are not. Off by default, and when there is no executor or one task alone.
  void set_parallelism(Parallelism parallelism) {
    parallel_ = std::make_unique<ParallelRunner>(runner_, std::move(parallelism));
  }

 private:
  template <std::size_t... I, std::size_t... O>
  void run_all(std::size_t rows, const Inputs& inputs, const Outputs& outputs,
               std::index_sequence<I...>, std::index_sequence<O...>) {
    using detail::Direction;
    const Description& model = runner_.description();
    (detail::check_elements(model, detail::Spans<typename M::Inputs>::kRowElements[I],
                            {Direction::kInput, I, rows, std::get<I>(inputs).size()}),
     ...);
    (detail::check_elements(model, detail::Spans<typename M::Outputs>::kRowElements[O],
                            {Direction::kOutput, O, rows, std::get<O>(outputs).size()}),
     ...);
    const OneUser::Call call(user_);
    detail::check_alone(call, model.name);
    // One more, as a tuple may be empty.
    const void* const in[] = {std::get<I>(inputs).data()..., nullptr};
    void* const out[] = {std::get<O>(outputs).data()..., nullptr};
    if (parallel_ != nullptr && parallel_->takes(rows) && !runner_.strategy().hasRule(rows)) {
      parallel_->run(rows, in, out);
    } else {
      runner_.run(rows, in, out);
    }
    detail::check_alone(call, model.name);
  }

  BatchRunner runner_;
  std::unique_ptr<ParallelRunner> parallel_;
  OneUser user_;
};

}  // namespace native
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
