// SPDX-License-Identifier: Apache-2.0
// Runs a generated class through both APIs, the native one by order and by name, at every CPU level
// of this machine, and compares with TensorFlow.
#pragma once

#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "reference.h"
#include "tfaot/runtime/detail/select_code.h"
#include "tfaot/runtime/model.h"

namespace tfaot::toolkit::testing {

// std::vector<bool> has no memory to point to.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class List>
struct Columns;
template <class... Tensors>
struct Columns<TensorList<Tensors...>> {
  using Flat = std::tuple<std::vector<Stored<typename Tensors::Element>>...>;
  using Rows = std::tuple<std::vector<std::vector<typename Tensors::Element>>...>;
  using Spans = std::tuple<Span<typename Tensors::Element>...>;
  using ConstSpans = std::tuple<Span<const typename Tensors::Element>...>;
};

template <class M>
class ModelCheck {
 public:
  using InputTypes = typename M::Inputs::Types;
  using OutputTypes = typename M::Outputs::Types;
  using In = Columns<InputTypes>;
  using Out = Columns<OutputTypes>;
  static constexpr auto kInputIndices = std::make_index_sequence<InputTypes::kSize>();
  static constexpr auto kOutputIndices = std::make_index_sequence<OutputTypes::kSize>();

  explicit ModelCheck(const ReferenceCase& reference) : case_(reference) { fill(kInputIndices); }

  void native(const CpuChoice& cpu) {
    native::Model<M> model(cpu);
    typename Out::Flat outputs;
    resize(outputs, kOutputIndices);
    const auto input_spans = spans<typename In::ConstSpans>(flat_, kInputIndices);
    model.run(case_.batch_size, input_spans, spans<typename Out::Spans>(outputs, kOutputIndices));
    compare(outputs, kOutputIndices);
    // Members are in the model's order, so that they can be filled in without their names.
    typename Out::Flat by_name;
    resize(by_name, kOutputIndices);
    model.run(case_.batch_size, members_of<typename M::Inputs>(input_spans),
              members_of<typename M::Outputs>(spans<typename Out::Spans>(by_name, kOutputIndices)));
    EXPECT_EQ(by_name, outputs);
  }

  void compatible() { compatible(kInputIndices, kOutputIndices); }

 private:
  template <std::size_t... I>
  void fill(std::index_sequence<I...>) {
    (fill_one<I>(), ...);
  }
  template <std::size_t I>
  void fill_one() {
    const auto& info = M::description().inputs[I];
    const auto& values = case_.inputs.at(info.name);
    auto& flat = std::get<I>(flat_);
    for (const long double value : values) {
      flat.push_back(element<typename std::decay_t<decltype(flat)>::value_type>(value));
    }
    auto& rows = std::get<I>(rows_);
    for (std::size_t r = 0; r < case_.batch_size; ++r) {
      const auto first = flat.begin() + static_cast<std::ptrdiff_t>(r * info.row_elements);
      rows.emplace_back(first, first + static_cast<std::ptrdiff_t>(info.row_elements));
    }
  }

  template <class Struct, class Spans>
  static Struct members_of(const Spans& spans) {
    return std::apply([](const auto&... span) { return Struct{span...}; }, spans);
  }

  template <std::size_t... O>
  void resize(typename Out::Flat& outputs, std::index_sequence<O...>) {
    (std::get<O>(outputs).resize(case_.batch_size * M::description().outputs[O].row_elements), ...);
  }

  // Passes bytes as bools, like a user's own bool memory.
  template <class Spans, class Flat, std::size_t... I>
  static Spans spans(Flat& flat, std::index_sequence<I...>) {
    return Spans{std::tuple_element_t<I, Spans>(
        reinterpret_cast<decltype(std::tuple_element_t<I, Spans>().data())>(
            std::get<I>(flat).data()),
        std::get<I>(flat).size())...};
  }

  template <std::size_t... I, std::size_t... O>
  void compatible(std::index_sequence<I...>, std::index_sequence<O...>) {
    Model<M> model;
    const auto rows = model.template run<std::tuple_element_t<O, typename Out::Rows>...>(
        case_.batch_size, std::get<I>(rows_)...);
    typename Out::Flat outputs;
    (flatten(std::get<O>(rows), std::get<O>(outputs)), ...);
    compare(outputs, kOutputIndices);
  }
  template <class Rows, class Flat>
  static void flatten(const Rows& rows, Flat& flat) {
    for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  }

  template <std::size_t... O>
  void compare(const typename Out::Flat& outputs, std::index_sequence<O...>) {
    (compare_one(std::get<O>(outputs), M::description().outputs[O].name), ...);
  }
  template <class Flat>
  void compare_one(const Flat& output, const char* name) {
    EXPECT_TRUE(is_close(output, case_.outputs.at(name), case_.tolerance))
        << "output " << name << ", batch size " << case_.batch_size;
  }

  const ReferenceCase& case_;
  typename In::Flat flat_;
  typename In::Rows rows_;
};

template <class M>
void check_model(const std::string& reference_file) {
  const auto cases = read_reference(reference_file);
  ASSERT_FALSE(cases.empty());
  for (const auto& one : cases) {
    ModelCheck<M> check(one);
    check.compatible();
    const auto& program = M::description().programs[0];
    for (std::size_t i = 0; i < program.code_count; ++i) {
      const Code& code = program.codes[i];
      if (!can_run(code, this_cpu())) continue;
      SCOPED_TRACE(std::string("CPU level ") + code.cpu_level);
      check.native(this_cpu().at_level(code.cpu_level));
    }
  }
}

}  // namespace tfaot::toolkit::testing
