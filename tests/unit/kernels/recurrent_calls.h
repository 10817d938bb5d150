// SPDX-License-Identifier: Apache-2.0
// The operands of tfaot_lstm, tfaot_gru and tfaot_rnn.
#pragma once

#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {

using kernels::RecurrentCall;

enum class Cell { kLstm, kGru, kRnn };

struct CellShape {
  Int gates, sums, panels;  // vectors of weights and of sums to a block, panels of the state
};
inline CellShape shape_of(Cell cell) {
  return cell == Cell::kLstm  ? CellShape{4, 4, 1}
         : cell == Cell::kGru ? CellShape{3, 4, 1}
                              : CellShape{1, 1, 2};
}

// Blocks of a matrix [depth, gates, hidden]; half: the last one.
class PackedGates {
 public:
  PackedGates(const Tensor<float>& from, Int hidden, Int depth, Int gates, Int panels, bool half)
      : values_(size(hidden, panels, half) * depth * gates, 64) {
    const Int block = panels * kPanel;
    float* at = values_.data();
    for (Int first = 0; first < hidden; first += block) {
      const Int columns = half && first + block > hidden ? block / 2 : block;
      for (Int l = 0; l < depth; ++l) {
        for (Int gate = 0; gate < gates; ++gate) {
          for (Int j = first; j < first + columns; ++j) {
            *at++ = j < hidden ? from[(l * gates + gate) * hidden + j] : 0;
          }
        }
      }
    }
  }

  static PackedGates weights(const Tensor<float>& from, Int hidden, Int depth, Cell cell) {
    const CellShape shape = shape_of(cell);
    return {from,        hidden,       depth,
            shape.gates, shape.panels, kernels::ends_in_half_block(hidden, shape.panels * kPanel)};
  }
  static PackedGates bias(const Tensor<float>& from, Int hidden, Cell cell) {
    const CellShape shape = shape_of(cell);
    return {from, hidden, 1, shape.sums, shape.panels, false};
  }

  const float* data() const { return values_.data(); }

 private:
  static constexpr Int kPanel = kernels::panel_columns(sizeof(float));

  // Columns of a gate.
  static Int size(Int hidden, Int panels, bool half) {
    const Int block = panels * kPanel;
    return (hidden + block - 1) / block * block - (half ? block / 2 : 0);
  }

  Tensor<float> values_;
};

}  // namespace tfaot::kernels_test
