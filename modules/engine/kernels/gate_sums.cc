// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate_sums.h"

#include <algorithm>

#include "hlo/fold.h"
#include "kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

std::int64_t row_count(const HloInstruction& tensor) {
  return product(tensor.shape().dimensions()) / column_count(tensor);
}

bool is_column_slice(const HloInstruction& slice) {
  return slice.opcode() == HloOpcode::kSlice && row_count(slice) == row_count(*slice.operand(0)) &&
         slice.slice_strides().back() == 1;
}

class GateParts {
 public:
  explicit GateParts(const WeightValues& values) : values_(values) {}

  // Columns from `column` on.
  void add(HloInstruction* value, std::int64_t column) {
    if (value->opcode() == HloOpcode::kAdd) {
      add(value->mutable_operand(0), column);
      add(value->mutable_operand(1), column);
    } else if (is_column_slice(*value)) {
      add(value->mutable_operand(0), column + value->slice_starts().back());
    } else if (add_bias(*value, column) || add_product(*value, column)) {
      return;
    } else if (value->opcode() == HloOpcode::kReshape && value->operand(0)->shape().rank() > 0 &&
               column_count(*value->operand(0)) == column_count(*value)) {
      add(value->mutable_operand(0), column);
    } else {
      sum_.inputs.push_back({value, column});
    }
  }

  GateSum sum() && { return std::move(sum_); }

 private:
  bool add_bias(HloInstruction& value, std::int64_t column) {
    if (value.opcode() == HloOpcode::kBroadcast) {
      HloInstruction* inner = value.mutable_operand(0);
      const std::int64_t size = product(dimensions_of(*inner));
      const bool is_column = size == column_count(value) && size > 1 &&
                             value.dimensions().back() == value.shape().rank() - 1;
      if (!values_.is_known(inner) || (size != 1 && !is_column)) return false;
      sum_.biases.push_back({inner, is_column ? column : 0});
      return true;
    }
    if (row_count(value) != 1 || !values_.is_known(&value)) return false;
    sum_.biases.push_back({&value, column});
    return true;
  }

  bool add_product(HloInstruction& value, std::int64_t column) {
    if (value.opcode() != HloOpcode::kDot) return false;
    HloInstruction* left = value.mutable_operand(0);
    HloInstruction* right = value.mutable_operand(1);
    const auto& numbers = value.dot_dimension_numbers();
    if (right->shape().rank() != 2 || numbers.lhs_contracting_dimensions_size() != 1 ||
        numbers.lhs_contracting_dimensions(0) != left->shape().rank() - 1 ||
        !values_.is_known(right) || left->shape().element_type() != value.shape().element_type() ||
        right->shape().element_type() != value.shape().element_type()) {
      return false;
    }
    sum_.products.push_back(
        {left, {right, column}, numbers.rhs_contracting_dimensions(0) == 1, {&value, column}});
    return true;
  }

  const WeightValues& values_;
  GateSum sum_;
};

}  // namespace

std::int64_t column_count(const HloInstruction& tensor) {
  return tensor.shape().dimensions(static_cast<int>(tensor.shape().rank() - 1));
}

const HloInstruction& without_reshapes(const HloInstruction& value) {
  return value.opcode() == HloOpcode::kReshape ? without_reshapes(*value.operand(0)) : value;
}

std::int64_t GateSum::products_with(const HloInstruction& state) const {
  return std::ranges::count_if(products,
                               [&](const GateProduct& one) { return one.has_left(state); });
}

std::vector<GatePart> GateSum::inputs_without(const HloInstruction& state) const {
  std::vector<GatePart> all = inputs;
  for (const GateProduct& product : products) {
    if (!product.has_left(state)) all.push_back(product.result);
  }
  return all;
}

HloInstruction* GateSum::matrix_for(const HloInstruction& state, std::int64_t columns) const {
  const auto product =
      std::ranges::find_if(products, [&](const GateProduct& one) { return one.has_left(state); });
  const std::int64_t dimension = product->is_transposed ? 0 : 1;
  HloInstruction* matrix =
      columns_of(product->right.source, dimension, product->right.column, columns);
  return product->is_transposed ? transpose(matrix, {1, 0}) : matrix;
}

GateSum gate_sum(HloInstruction* gate, const WeightValues& values) {
  GateParts parts(values);
  parts.add(gate, 0);
  return std::move(parts).sum();
}

HloInstruction* columns_of(HloInstruction* operand, std::int64_t dimension, std::int64_t first,
                           std::int64_t count) {
  Dimensions sizes = dimensions_of(*operand);
  Dimensions starts(sizes.size(), 0);
  Dimensions limits = sizes;
  const auto d = static_cast<std::size_t>(dimension);
  if (sizes[d] == count) return operand;
  starts[d] = first;
  limits[d] = first + count;
  sizes[d] = count;
  return operand->parent()->AddInstruction(
      HloInstruction::CreateSlice(shape_of(operand->shape().element_type(), sizes), operand, starts,
                                  limits, Dimensions(sizes.size(), 1)));
}

HloInstruction* joined(const std::vector<HloInstruction*>& parts, std::int64_t dimension) {
  if (parts.size() == 1) return parts.front();
  Dimensions sizes = dimensions_of(*parts.front());
  auto& size = sizes[static_cast<std::size_t>(dimension)];
  size = 0;
  for (const HloInstruction* part : parts) {
    size += part->shape().dimensions(static_cast<int>(dimension));
  }
  return parts.front()->parent()->AddInstruction(HloInstruction::CreateConcatenate(
      shape_of(parts.front()->shape().element_type(), sizes), parts, dimension));
}

}  // namespace tfaot::toolkit::engine
