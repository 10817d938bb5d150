// SPDX-License-Identifier: Apache-2.0
// The order of sums that products, convolutions and recurrent layers promise
// (docs/reproducibility.md), to the bit: a plain loop in that order gives what the kernels give,
// for any number of rows, at each CPU level with fused multiply-adds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "tests/unit/kernels/convolution_filters.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/matmul_calls.h"
#include "tests/unit/kernels/recurrent_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

class SameBits : public EveryLevel {
 protected:
  void SetUp() override {
    EveryLevel::SetUp();
    if (!kComparesValues) GTEST_SKIP() << "the hashes of all other tests say the same";
  }
  bool is_fused() const { return kernels_test::is_fused(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Levels, SameBits, ::testing::ValuesIn(all_levels()), name_of_level);

template <typename T>
T add_product(bool is_fused, T x, T y, T sum) {
  if (is_fused) return std::fma(x, y, sum);
  const T product = x * y;
  return product + sum;
}

// Products of up to eight columns have four sums, others two; the first begins with the bias.
template <typename T>
class Sums {
 public:
  Sums(bool is_fused, Int columns, T bias) : is_fused_(is_fused), count_(columns <= 8 ? 4 : 2) {
    sums_[0] = bias;
  }

  void begin_run() { step_ = 0; }
  void add(T x, T y) {
    T& sum = sums_[step_++ % count_];
    sum = add_product(is_fused_, x, y, sum);
  }
  T total() const {
    return count_ == 2 ? sums_[0] + sums_[1] : (sums_[0] + sums_[2]) + (sums_[1] + sums_[3]);
  }

 private:
  bool is_fused_;
  int count_;
  int step_ = 0;
  T sums_[4] = {};
};

template <typename T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <typename T>
void check_product(Kernel kernel, bool is_fused, MatMulCall c, Random& random) {
  SCOPED_TRACE(describe(c));
  Tensor<T> lhs(c.batch * c.rows * c.depth), rhs(c.batch * c.depth * c.columns), bias(c.columns);
  Tensor<T> result(c.batch * c.rows * c.columns);
  Tensor<T> packed(
      kernels::panel_count(c.columns, sizeof(T)) * c.depth * kernels::panel_columns(sizeof(T)), 64);
  Tensor<T> scratch(kernels::matmul_scratch_bytes(c, sizeof(T)) / static_cast<Int>(sizeof(T)), 64);
  random.fill(lhs);
  random.fill(rhs);
  random.fill(bias);
  pack(packed.data(), c.depth, c.columns, [&](Int l, Int j) { return rhs[l * c.columns + j]; });
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {&c, lhs.data(), c.rhs_packed != 0 ? packed.data() : rhs.data(), bias.data()};
  kernel(out, in);
  for (Int i = 0; i < result.size(); ++i) {
    const Int row = i / c.columns, column = i % c.columns;
    const T* const right =
        c.rhs_packed != 0 ? rhs.data() : rhs.data() + row / c.rows * c.depth * c.columns;
    Sums<T> sums(is_fused, (c.epilogue & kernels::kEpilogueSwapped) != 0 ? c.rows : c.columns,
                 (c.epilogue & kernels::kEpilogueBias) != 0 ? bias[column] : T{0});
    for (Int l = 0; l < c.depth; ++l)
      sums.add(lhs[row * c.depth + l], right[l * c.columns + column]);
    ASSERT_TRUE(same_bits(sums.total(), result[i]))
        << "row " << row << ", column " << column << ": " << sums.total() << " " << result[i];
  }
}

template <typename T>
void check_products(Kernel kernel, bool is_fused) {
  Random random(1);
  for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) {
    const Int columns = random.between(1, random.one_in(3) ? 9 : 75);
    const Int batch = random.one_in(4) ? 3 : 1;
    const Int rows = random.between(1, random.one_in(3) ? 70 : 9);
    MatMulCall c = plain(batch, rows, columns, random.between(1, 75));
    c.rhs_packed = random.between(0, 1);
    c.epilogue = random.between(0, 1) * kernels::kEpilogueBias;
    if (c.rhs_packed != 0) {
      c.rhs_batch_stride = 0;
    } else {
      c.epilogue |= random.between(0, 1) * kernels::kEpilogueSwapped;
    }
    check_product<T>(kernel, is_fused, c, random);
  }
  // Right sides that are prefetched, and more rows than a block has.
  for (const Int rows : {1, 2, 3, 7, 64}) {
    MatMulCall c = plain(1, rows, 260, 301);
    c.rhs_packed = 1;
    check_product<T>(kernel, is_fused, c, random);
  }
  // Right sides beyond the first-level cache that have one panel, and few of them.
  for (const Int columns : {5, 40}) {
    MatMulCall c = plain(1, 1, columns, 2100);
    c.rhs_packed = 1;
    check_product<T>(kernel, is_fused, c, random);
  }
  MatMulCall c = plain(1, 1001, 20, 30);
  c.rhs_packed = 1;
  check_product<T>(kernel, is_fused, c, random);
}

TEST_P(SameBits, OfProducts) {
  check_products<float>(kernels<float>().matmul, is_fused());
  check_products<double>(kernels<double>().matmul, is_fused());
}

TEST_P(SameBits, OfChainsOfLayers) {
  Random random(2);
  for (const Int rows : {1, 2, 5, 16, 64, 500}) {
    const std::vector<Int> widths = {random.between(1, 40), random.between(1, 70),
                                     random.between(1, 9), 4};
    struct {
      kernels::DenseChainCall call;
      kernels::DenseLayer layers[3];
    } c = {};
    c.call = {rows, widths[0], 3, std::max(widths[1], widths[2]), 0};
    Tensor<float> x(rows * widths[0]), result(rows * widths[3]);
    Tensor<float> scratch(kernels::dense_chain_scratch_bytes(c.call) / Int{sizeof(float)}, 64);
    random.fill(x);
    std::vector<std::unique_ptr<Tensor<float>>> weights, packed;
    std::vector<const void*> in = {&c, x.data()};
    for (std::size_t i = 0; i < 3; ++i) {
      c.layers[i].columns = widths[i + 1];
      weights.push_back(std::make_unique<Tensor<float>>(widths[i] * widths[i + 1]));
      packed.push_back(
          std::make_unique<Tensor<float>>(kernels::panel_count(widths[i + 1], sizeof(float)) *
                                              widths[i] * kernels::panel_columns(sizeof(float)),
                                          64));
      random.fill(*weights[i]);
      pack(packed[i]->data(), widths[i], widths[i + 1],
           [&](Int l, Int j) { return (*weights[i])[l * widths[i + 1] + j]; });
      in.push_back(packed[i]->data());
    }
    void* out[] = {result.data(), scratch.data()};
    kernels<float>().dense_chain(out, in.data());
    for (Int row = 0; row < rows; ++row) {
      std::vector<float> now(x.data() + row * widths[0], x.data() + (row + 1) * widths[0]);
      for (std::size_t i = 0; i < 3; ++i) {
        std::vector<float> next;
        for (Int j = 0; j < widths[i + 1]; ++j) {
          Sums<float> sums(is_fused(), widths[i + 1], 0.0F);
          for (Int l = 0; l < widths[i]; ++l)
            sums.add(now[static_cast<std::size_t>(l)], (*weights[i])[l * widths[i + 1] + j]);
          next.push_back(sums.total());
        }
        now = next;
      }
      for (Int j = 0; j < 4; ++j)
        ASSERT_TRUE(same_bits(now[static_cast<std::size_t>(j)], result[row * 4 + j]))
            << rows << " rows, " << row;
    }
  }
}

// A run is a row of the window with its channels, with zeros outside the image.
template <typename T>
void check_convolution(Kernel kernel, bool is_fused, const ConvolutionCall& c, Random& random) {
  const Window& w = c.window;
  Tensor<T> input(c.batch * elements(w.in) * c.in_channels),
      filter(elements(w.size) * c.in_channels * c.out_channels);
  Tensor<T> result(c.batch * elements(w.out) * c.out_channels), bias(c.out_channels);
  Tensor<T> packed(kernels::panel_count(c.out_channels, sizeof(T)) * elements(w.size) *
                       c.in_channels * kernels::panel_columns(sizeof(T)),
                   64);
  Tensor<T> scratch(kernels::convolution_scratch_bytes(c, sizeof(T)) / static_cast<Int>(sizeof(T)),
                    64);
  random.fill(input);
  random.fill(filter);
  random.fill(bias);
  pack_filter(packed.data(), filter, c);
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {&c, input.data(), packed.data(), bias.data()};
  kernel(out, in);
  for (Int i = 0; i < result.size(); ++i) {
    const Int channel = i % c.out_channels, column = i / c.out_channels % w.out[2],
              line = i / c.out_channels / w.out[2] % w.out[1];
    const T* const image =
        input.data() + i / c.out_channels / w.out[2] / w.out[1] * elements(w.in) * c.in_channels;
    Sums<T> sums(is_fused, c.out_channels, bias[channel]);
    for (Int j = 0; j < w.size[1]; ++j) {
      sums.begin_run();
      for (Int l = 0; l < w.size[2] * c.in_channels; ++l) {
        const Int y = line * w.stride[1] + j - w.pad_low[1],
                  x = column * w.stride[2] + l / c.in_channels - w.pad_low[2];
        const bool inside = y >= 0 && y < w.in[1] && x >= 0 && x < w.in[2];
        sums.add(inside ? image[(y * w.in[2] + x) * c.in_channels + l % c.in_channels] : T{0},
                 filter[((j * w.size[2]) * c.in_channels + l) * c.out_channels + channel]);
      }
    }
    ASSERT_TRUE(same_bits(sums.total(), result[i]))
        << "result " << i << ": " << sums.total() << " " << result[i];
  }
}

TEST_P(SameBits, OfConvolutions) {
  Random random(3);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    ConvolutionCall c = {};
    c.batch = random.between(1, 4);
    const Int size = random.between(3, 20), window = random.between(1, 4),
              stride = random.between(1, 2);
    const Int pad = random.between(0, 1);
    const Int places = (size + 2 * pad - window) / stride + 1;
    if (places < 1) continue;
    c.window = {{1, size, size}, {1, places, places}, {1, window, window}, {1, stride, stride},
                {0, pad, pad},   {0, pad, pad},       {1, 1, 1},           {1, 1, 1}};
    c.in_channels = random.between(1, 20);
    c.out_channels = random.between(1, random.one_in(3) ? 9 : 40);
    c.groups = 1;
    c.epilogue = kernels::kEpilogueBias;
    SCOPED_TRACE(describe(c.window));
    check_convolution<float>(kernels<float>().convolution, is_fused(), c, random);
    check_convolution<double>(kernels<double>().convolution, is_fused(), c, random);
  }
}

// A recurrent layer, and the loops that it is compared with.
class RecurrentLayer {
 public:
  RecurrentLayer(Random& random, Cell cell, Int rows, Int hidden, Int features)
      : cell_(cell),
        shape_(shape_of(cell)),
        x_columns_(features != 0 ? features : shape_.gates * hidden),
        w_((features + hidden) * shape_.gates * hidden),
        bias_(shape_.sums * hidden),
        x_(rows * kSteps * x_columns_),
        h_(rows * hidden),
        memory_(rows * hidden) {
    call_.rows = rows;
    call_.steps = kSteps;
    call_.hidden = hidden;
    call_.features = features;
    call_.x_step = x_columns_;
    call_.x_row = kSteps * x_columns_;
    for (Int gate = 0; gate < shape_.gates; ++gate) call_.x_gate[gate] = gate * hidden;
    call_.out_row = hidden;
    call_.memory_out = cell == Cell::kLstm ? rows * hidden : -1;
    for (Tensor<float>* one : {&w_, &bias_, &x_, &h_, &memory_}) random.fill(*one);
    if (random.one_in(4))
      x_[random.between(0, x_.size() - 1)] = std::numeric_limits<float>::infinity();
  }

  // The state of all rows, and then an lstm's memory.
  std::vector<float> by_kernel(Kernel kernel) const {
    return run(kernel, call_, x_, PackedGates::weights(w_, call_.hidden, depth(), cell_),
               PackedGates::bias(bias_, call_.hidden, cell_), h_, memory_);
  }

  // The same by plain loops. Only the gates are `one_row`, which gets their sums, one row at a
  // time.
  std::vector<float> by_loops(bool is_fused, Kernel one_row) const {
    const Int hidden = call_.hidden;
    std::vector<float> all(static_cast<std::size_t>((cell_ == Cell::kLstm ? 2 : 1) * h_.size()));
    RecurrentCall gates = call_;
    gates.rows = gates.steps = 1;
    gates.features = 0;
    if (cell_ == Cell::kLstm) gates.memory_out = hidden;
    Tensor<float> zeros(hidden * shape_.gates * hidden);
    for (Int i = 0; i < zeros.size(); ++i) zeros[i] = 0;
    const auto no_weights = PackedGates::weights(zeros, hidden, hidden, cell_);
    for (Int row = 0; row < call_.rows; ++row) {
      Tensor<float> h(hidden), memory(hidden);
      std::copy_n(h_.data() + row * hidden, hidden, h.data());
      std::copy_n(memory_.data() + row * hidden, hidden, memory.data());
      for (Int step = 0; step < kSteps; ++step) {
        // A gru's last sum has no input: it is a bias.
        Tensor<float> sums(shape_.gates * hidden), bias(shape_.sums * hidden);
        for (Int i = 0; i < bias.size(); ++i) {
          bias[i] = 0;
          (i < sums.size() ? sums[i] : bias[i]) =
              sum(is_fused, row * call_.x_row + step * call_.x_step, h, i / hidden, i % hidden);
        }
        const std::vector<float> next = run(one_row, gates, sums, no_weights,
                                            PackedGates::bias(bias, hidden, cell_), h, memory);
        std::copy_n(next.data(), hidden, h.data());
        if (cell_ == Cell::kLstm) std::copy_n(next.data() + hidden, hidden, memory.data());
      }
      std::copy_n(h.data(), hidden, all.data() + row * hidden);
      if (cell_ == Cell::kLstm)
        std::copy_n(memory.data(), hidden, all.data() + h_.size() + row * hidden);
    }
    return all;
  }

 private:
  static constexpr Int kSteps = 3;

  Int depth() const { return call_.features + call_.hidden; }

  std::vector<float> run(Kernel kernel, const RecurrentCall& call, const Tensor<float>& x,
                         const PackedGates& weights, const PackedGates& bias,
                         const Tensor<float>& h, const Tensor<float>& memory) const {
    Tensor<float> result((cell_ == Cell::kLstm ? 2 : 1) * h.size());
    Tensor<float> scratch(kernels::recurrent_scratch_bytes(call) / Int{sizeof(float)}, 64);
    void* out[] = {result.data(), scratch.data()};
    const void* in[] = {&call, x.data(), weights.data(), bias.data(), h.data(), memory.data()};
    kernel(out, in);
    return {result.data(), result.data() + result.size()};
  }

  // The products with the input begin at zero, as a product of their own does, and are added to the
  // bias. The products with the state begin with that.
  float sum(bool is_fused, Int x_at, const Tensor<float>& h, Int which, Int column) const {
    const Int gate = std::min(which, shape_.gates - 1);
    const auto weight = [&](Int l) {
      return w_[(l * shape_.gates + gate) * call_.hidden + column];
    };
    const bool of_gru = cell_ == Cell::kGru;
    Sums<float> of_input(is_fused, kMany, 0.0F);
    for (Int l = 0; which < shape_.gates && l < call_.features; ++l)
      of_input.add(x_[x_at + l], weight(l));
    float input = of_input.total();
    if (which < shape_.gates && call_.features == 0) input = x_[x_at + call_.x_gate[gate] + column];
    Sums<float> of_state(is_fused, kMany, bias_[which * call_.hidden + column] + input);
    for (Int l = 0; !(of_gru && which == 2) && l < call_.hidden; ++l)
      of_state.add(h[l], weight(call_.features + l));
    return of_state.total();
  }

  static constexpr Int kMany = 9;  // columns of a product with two sums

  RecurrentCall call_ = {};
  Cell cell_;
  CellShape shape_;
  Int x_columns_;
  Tensor<float> w_, bias_, x_, h_, memory_;
};

// Levels with fused multiply-adds have the gates' functions of the first such level.
TEST_P(SameBits, OfRecurrentLayers) {
  const Level& first =
      *std::find_if(all_levels().begin(), all_levels().end(),
                    [](const Level& one) { return kernels_test::is_fused(one) && runs_here(one); });
  const Kernels &kernels = GetParam().f32, &gates = is_fused() ? first.f32 : kernels;
  const struct {
    Cell cell;
    Kernel kernel, gates;
  } cells[] = {{Cell::kLstm, kernels.lstm, gates.lstm},
               {Cell::kGru, kernels.gru, gates.gru},
               {Cell::kRnn, kernels.rnn, gates.rnn}};
  Random random(4);
  for (const auto& one : cells) {
    for (Int turn = 0; turn < 96; ++turn) {
      const Int rows = turn < 64 ? turn + 1 : turn % 8 + 1;
      const Int hidden = random.between(1, random.one_in(4) ? 100 : 40);
      const Int features = random.one_in(3) ? 0 : random.between(1, 20);
      SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(hidden) + " of " +
                   std::to_string(features));
      const RecurrentLayer layer(random, one.cell, rows, hidden, features);
      const std::vector<float> expected = layer.by_loops(is_fused(), one.gates),
                               made = layer.by_kernel(one.kernel);
      for (std::size_t i = 0; i < made.size(); ++i)
        ASSERT_TRUE(same_bits(expected[i], made[i])) << i << ": " << expected[i] << " " << made[i];
    }
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
