// SPDX-License-Identifier: Apache-2.0
// After prepare(), a call of a generated class allocates nothing, takes no lock, asks no clock and
// makes no system call: at every CPU level of this machine, for compiled and other numbers of rows,
// for tensors that are aligned and that are not, alone and shared by tasks.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/watched_calls.h"
#include "tfaot/runtime/detail/select_code.h"
#include "tfaot/runtime/model.h"

namespace tfaot::toolkit::testing {

// Bytes for a tensor, at an odd multiple of `alignment`.
class TensorBytes {
 public:
  TensorBytes(std::size_t size, std::size_t alignment) : bytes_(size + 2 * kLine) {
    const auto start = reinterpret_cast<std::uintptr_t>(bytes_.data());
    first_ = (kLine - start % kLine) + alignment % kLine;
  }
  std::uint8_t* data() { return bytes_.data() + first_; }

 private:
  static constexpr std::size_t kLine = 64;
  std::vector<std::uint8_t> bytes_;
  std::size_t first_;
};

template <class List>
struct SpansOf;
template <class... Tensors>
struct SpansOf<TensorList<Tensors...>> {
  using In = std::tuple<Span<const typename Tensors::Element>...>;
  using Out = std::tuple<Span<typename Tensors::Element>...>;
};

template <class M>
class RealTimeCheck {
 public:
  using InputTypes = typename M::Inputs::Types;
  using OutputTypes = typename M::Outputs::Types;

  RealTimeCheck(std::size_t rows, std::size_t alignment) : rows_(rows) {
    const Description& model = M::description();
    std::mt19937 random(1);
    for (std::size_t i = 0; i < model.input_count; ++i) {
      inputs_.emplace_back(rows * row_bytes(model.inputs[i]), alignment);
      // Numbers from 0 to 1. Integers and bools stay zero, as they may be places of other tensors.
      if (model.inputs[i].dtype != DType::kFloat32) continue;
      for (std::size_t k = 0; k < rows * model.inputs[i].row_elements; ++k) {
        const float number = std::uniform_real_distribution<float>()(random);
        std::memcpy(inputs_[i].data() + k * sizeof number, &number, sizeof number);
      }
    }
    for (std::size_t i = 0; i < model.output_count; ++i) {
      outputs_.emplace_back(rows * row_bytes(model.outputs[i]), alignment);
    }
  }

  void run(native::Model<M>& model) {
    const Description& description = M::description();
    model.run(
        rows_,
        spans<In>(inputs_, description.inputs, std::make_index_sequence<InputTypes::kSize>()),
        spans<Out>(outputs_, description.outputs, std::make_index_sequence<OutputTypes::kSize>()));
  }

 private:
  using In = typename SpansOf<InputTypes>::In;
  using Out = typename SpansOf<OutputTypes>::Out;

  template <class Spans, std::size_t... I>
  Spans spans(std::vector<TensorBytes>& bytes, const TensorInfo* infos,
              std::index_sequence<I...>) const {
    return Spans{std::tuple_element_t<I, Spans>(
        reinterpret_cast<decltype(std::tuple_element_t<I, Spans>().data())>(bytes[I].data()),
        rows_ * infos[I].row_elements)...};
  }

  std::size_t rows_;
  std::vector<TensorBytes> inputs_;
  std::vector<TensorBytes> outputs_;
};

// What `calls` calls at this level ask for.
template <class M>
std::string asked_by_calls(const CpuChoice& cpu, const Parallelism& parallelism,
                           std::uint64_t calls) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < M::description().program_count; ++i) {
    numbers.push_back(M::description().programs[i].batch_size);
  }
  if (!M::description().coupled_rows) {
    numbers.insert(numbers.end(), {1, numbers.back() - 1, numbers.back() + 1});
  }
  native::Model<M> model(cpu);
  std::vector<RealTimeCheck<M>> checks;
  for (const std::size_t rows : numbers) {
    if (rows == 0) continue;
    checks.emplace_back(rows, 0);
    checks.emplace_back(rows, 8);
  }
  return tfaot_test::asked_for(
      [&] {
        if (parallelism.executor) model.set_parallelism(parallelism);
        for (const std::size_t rows : numbers) model.prepare(rows);
      },
      [&] {
        for (std::uint64_t i = 0; i < calls; ++i) checks[i % checks.size()].run(model);
      });
}

template <class M>
void check_real_time() {
  const Program& program = M::description().programs[0];
  const Parallelism shared = {[](std::size_t count, const std::function<void(std::size_t)>& task) {
                                for (std::size_t i = 0; i < count; ++i) task(i);
                              },
                              3, 1};
  for (std::size_t i = 0; i < program.code_count; ++i) {
    const Code& code = program.codes[i];
    if (!can_run(code, this_cpu())) continue;
    SCOPED_TRACE(std::string("CPU level ") + code.cpu_level);
    const CpuChoice cpu = this_cpu().at_level(code.cpu_level);
    const std::string asked = asked_by_calls<M>(cpu, {}, tfaot_test::calls_to_watch(100));
    if (asked.rfind("skipped: ", 0) == 0) GTEST_SKIP() << asked;
    EXPECT_EQ(asked, "");
    EXPECT_EQ(asked_by_calls<M>(cpu, shared, 30), "") << "shared by tasks";
  }
}

}  // namespace tfaot::toolkit::testing
