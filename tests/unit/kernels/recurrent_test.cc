// SPDX-License-Identifier: Apache-2.0
// tfaot_lstm, tfaot_gru and tfaot_rnn against their formulas in double precision. The functions
// inside them: activations_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/kernels/functions.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/recurrent_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

class RecurrentKernel : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, RecurrentKernel, ::testing::ValuesIn(all_levels()), name_of_level);

// Random sizes, and the result that they shall give.
class TestLayer {
 public:
  TestLayer(Random& random, Cell cell, Int rows, Int hidden)
      : random_(random), cell_(cell), shape_(shape_of(cell)) {
    call_.rows = rows;
    call_.hidden = hidden;
    call_.steps = random.between(1, 4);
    call_.features = random.one_in(2) ? random.between(1, 9) : 0;
    call_.relu = cell == Cell::kRnn && random.one_in(2) ? 1 : 0;
    call_.keeps_all = random.one_in(2) ? 1 : 0;
    call_.memory_out = -1;
    place_input();
    place_output();
    live_ = rows % 2 == 0 && random.one_in(3) ? rows / 2 : rows;
    call_.live_rows = live_ < rows ? 1 : 0;
  }

  void check(Kernel kernel) {
    const Int depth = call_.features + call_.hidden;
    Tensor<float> x(x_size_), w(depth * shape_.gates * call_.hidden);
    Tensor<float> bias(shape_.sums * call_.hidden), h(call_.rows * call_.hidden),
        memory(call_.rows * call_.hidden);
    for (Tensor<float>* one : {&x, &w, &bias, &h, &memory}) random_.fill(*one);
    const Int x_columns = x_size_ / (call_.rows * call_.steps);  // beyond those that count: NaN
    for (Int i = 0; i < x.size(); ++i) {
      if (i % x_columns >= x_counting_) x[i] = std::numeric_limits<float>::quiet_NaN();
    }
    // So that errors do not grow from step to step.
    for (Int i = 0; i < w.size(); ++i) w[i] /= std::sqrt(static_cast<float>(depth));
    const auto packed = PackedGates::weights(w, call_.hidden, depth, cell_);
    const auto packed_bias = PackedGates::bias(bias, call_.hidden, cell_);
    Tensor<float> result(result_size_);
    Tensor<float> scratch(kernels::recurrent_scratch_bytes(call_) / static_cast<Int>(sizeof(float)),
                          64);
    void* out[] = {result.data(), scratch.data()};
    std::vector<const void*> in = {&call_, x.data(), packed.data(), packed_bias.data(), h.data()};
    if (cell_ == Cell::kLstm) in.push_back(memory.data());
    if (call_.live_rows != 0) in.push_back(&live_);
    kernel(out, in.data());
    note_bits(result);
    for (Int row = 0; kComparesValues && row < live_; ++row)
      check_row(row, x, w, bias, h, memory, result);
  }

 private:
  void place_input() {
    const Int columns = call_.features != 0 ? call_.features : shape_.gates * call_.hidden;
    const Int gap = random_.between(0, 3);
    x_counting_ = columns;
    if (random_.one_in(2)) {  // steps first
      call_.x_row = columns + gap;
      call_.x_step = call_.rows * call_.x_row;
    } else {
      call_.x_step = columns + gap;
      call_.x_row = call_.steps * call_.x_step;
    }
    x_size_ = call_.rows * call_.steps * (columns + gap);
    for (Int gate = 0; gate < shape_.gates; ++gate) {
      call_.x_gate[gate] = (shape_.gates - 1 - gate) * call_.hidden;
    }
    if (!random_.one_in(2)) return;
    call_.x_start = (call_.steps - 1) * call_.x_step;
    call_.x_step = -call_.x_step;
  }

  void place_output() {
    const Int states = call_.keeps_all != 0 ? call_.steps : 1;
    call_.out_row = call_.hidden * (random_.one_in(2) ? 1 : states);
    call_.out_step = call_.hidden * (call_.out_row == call_.hidden ? call_.rows : 1);
    result_size_ = states * call_.rows * call_.hidden;
    if (call_.keeps_all != 0 && random_.one_in(2)) {
      call_.out_start = (states - 1) * call_.out_step;
      call_.out_step = -call_.out_step;
    }
    if (cell_ != Cell::kLstm || random_.one_in(2)) return;
    call_.memory_out = result_size_;
    result_size_ += call_.rows * call_.hidden;
  }

  struct State {
    std::vector<double> h, memory;
  };

  void check_row(Int row, const Tensor<float>& x, const Tensor<float>& w, const Tensor<float>& bias,
                 const Tensor<float>& h, const Tensor<float>& memory,
                 const Tensor<float>& result) const {
    State state;
    for (Int j = 0; j < call_.hidden; ++j) {
      state.h.push_back(double{h[row * call_.hidden + j]});
      state.memory.push_back(double{memory[row * call_.hidden + j]});
    }
    for (Int step = 0; step < call_.steps; ++step) {
      state =
          next(state, x.data() + call_.x_start + step * call_.x_step + row * call_.x_row, w, bias);
      if (call_.keeps_all == 0 && step < call_.steps - 1) continue;
      const Int place = call_.keeps_all != 0 ? step * call_.out_step : 0;
      for (Int j = 0; j < call_.hidden; ++j) {
        ASSERT_NEAR(double{result[call_.out_start + place + row * call_.out_row + j]},
                    state.h[static_cast<std::size_t>(j)], tolerance(state.h, j))
            << description() << ", row " << row << ", step " << step << ", column " << j;
      }
    }
    for (Int j = 0; call_.memory_out >= 0 && j < call_.hidden; ++j) {
      ASSERT_NEAR(double{result[call_.memory_out + row * call_.hidden + j]},
                  state.memory[static_cast<std::size_t>(j)], tolerance(state.memory, j))
          << description() << ", memory of row " << row << ", column " << j;
    }
  }

  static double tolerance(const std::vector<double>& values, Int j) {
    return 1e-5 * std::fmax(1, std::abs(values[static_cast<std::size_t>(j)]));
  }

  std::string description() const {
    return "rows " + std::to_string(call_.rows) + ", hidden " + std::to_string(call_.hidden) +
           ", features " + std::to_string(call_.features) + ", steps " +
           std::to_string(call_.steps);
  }

  // A gate's products with the input, or with the state, and its bias.
  double from_input(const float* x, const Tensor<float>& w, Int gate, Int j) const {
    if (call_.features == 0) return double{x[call_.x_gate[gate] + j]};
    double sum = 0;
    for (Int l = 0; l < call_.features; ++l) sum += double{x[l]} * weight(w, l, gate, j);
    return sum;
  }
  double from_state(const State& state, const Tensor<float>& w, Int gate, Int j) const {
    double sum = 0;
    for (Int l = 0; l < call_.hidden; ++l) {
      sum += state.h[static_cast<std::size_t>(l)] * weight(w, call_.features + l, gate, j);
    }
    return sum;
  }
  double weight(const Tensor<float>& w, Int l, Int gate, Int j) const {
    return double{w[(l * shape_.gates + gate) * call_.hidden + j]};
  }

  State next(const State& before, const float* x, const Tensor<float>& w,
             const Tensor<float>& bias) const {
    State after;
    for (Int j = 0; j < call_.hidden; ++j) {
      const auto old = static_cast<std::size_t>(j);
      std::vector<double> sums;
      for (Int gate = 0; gate < shape_.gates; ++gate) {
        const bool apart = cell_ == Cell::kGru && gate == 2;
        sums.push_back(from_input(x, w, gate, j) + double{bias[gate * call_.hidden + j]} +
                       (apart ? 0 : from_state(before, w, gate, j)));
      }
      double memory = 0;
      double h = 0;
      if (cell_ == Cell::kLstm) {
        memory = sigmoid(sums[1]) * before.memory[old] + sigmoid(sums[0]) * std::tanh(sums[2]);
        h = sigmoid(sums[3]) * std::tanh(memory);
      } else if (cell_ == Cell::kGru) {
        const double reset = from_state(before, w, 2, j) + double{bias[3 * call_.hidden + j]};
        const double candidate = std::tanh(sums[2] + sigmoid(sums[1]) * reset);
        h = sigmoid(sums[0]) * before.h[old] + (1 - sigmoid(sums[0])) * candidate;
      } else {
        h = call_.relu != 0 ? std::fmax(sums[0], 0) : std::tanh(sums[0]);
      }
      after.h.push_back(h);
      after.memory.push_back(memory);
    }
    return after;
  }

  Random& random_;
  Cell cell_;
  CellShape shape_;
  RecurrentCall call_{};
  Int x_size_ = 0, x_counting_ = 0, result_size_ = 0, live_ = 0;
};

void check_all(Cell cell, Kernel kernel) {
  Random random(7);
  for (const Int rows : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 40}) {
    for (const Int hidden : {1, 4, 15, 16, 17, 32, 33, 50}) {
      TestLayer(random, cell, rows, hidden).check(kernel);
    }
  }
  for (const Int rows : {1, 2, 5, 6, 13}) {  // all remainders of a block
    for (Int hidden = 17; hidden <= 97; ++hidden) {
      TestLayer(random, cell, rows, hidden).check(kernel);
    }
  }
  TestLayer(random, cell, 40, 260).check(kernel);  // more rows than one block
  TestLayer(random, cell, 13, 700).check(kernel);  // the last block has one row
  for (int i = 0; i < 4; ++i) {                    // blocks of a row alone
    for (const Int hidden : {48, 63, 64, 65, 95, 128, 135, 150, 168, 200}) {
      TestLayer(random, cell, 1, hidden).check(kernel);
    }
  }
}

TEST_P(RecurrentKernel, LstmIsItsFormula) { check_all(Cell::kLstm, GetParam().f32.lstm); }
TEST_P(RecurrentKernel, GruIsItsFormula) { check_all(Cell::kGru, GetParam().f32.gru); }
TEST_P(RecurrentKernel, RnnIsItsFormula) { check_all(Cell::kRnn, GetParam().f32.rnn); }

}  // namespace
}  // namespace tfaot::kernels_test
