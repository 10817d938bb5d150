// SPDX-License-Identifier: Apache-2.0
#include "kernels/resizing.h"

#include <numeric>

#include "kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"
#include "xla/literal.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

Neighbours unchanged(std::int64_t size) {
  Neighbours all{size, 1, std::vector<std::int64_t>(static_cast<std::size_t>(size)), {}};
  std::iota(all.start.begin(), all.start.end(), 0);
  all.weights.assign(static_cast<std::size_t>(size), 1.0);
  return all;
}

// The call of tfaot_resize that made a tensor for nobody else; null: there is none.
HloInstruction* own_resize(HloInstruction* tensor) {
  while (tensor->opcode() == HloOpcode::kReshape && tensor->user_count() == 1) {
    tensor = tensor->mutable_operand(0);
  }
  if (tensor->opcode() != HloOpcode::kGetTupleElement || tensor->user_count() != 1) return nullptr;
  HloInstruction* call = tensor->mutable_operand(0);
  return kernel_kind(*call) == KernelKind::kResize ? call : nullptr;
}

Resizing resizing_of(HloInstruction& kernel) {
  const auto call = call_of<kernels::ResizeCall>(kernel);
  const auto words = call_words(kernel);
  const xla::Literal weights = kernel.operand(2)->literal().Convert(xla::F64).value();
  Resizing resizing{kernel.mutable_operand(1), call.batch, {}, {}, call.channels};
  auto start = words.begin() + sizeof call / sizeof words[0];
  const auto numbers = weights.data<double>();
  auto weight = numbers.begin();
  Neighbours* const both[] = {&resizing.rows, &resizing.columns};
  for (int d = 0; d < 2; ++d) {
    Neighbours& one = *both[d];
    one.in = call.in[d];
    one.count = call.taps[d];
    one.start.assign(start, start + call.out[d]);
    start += call.out[d];
    one.weights.assign(weight, weight + call.out[d] * call.taps[d]);
    weight += call.out[d] * call.taps[d];
  }
  return resizing;
}

// Two dimensions that are neighbours in memory, resized one after the other, as one call.
Resizing joined_with_before(Resizing resizing) {
  HloInstruction* kernel = own_resize(resizing.operand);
  if (kernel == nullptr || resizing.columns.in != 1) return resizing;
  Resizing before = resizing_of(*kernel);
  if (before.columns.in != 1 || before.columns.out() != 1) return resizing;
  const std::int64_t own_size = resizing.rows.in * resizing.channels;
  if (before.channels == own_size && resizing.batch == before.batch * before.rows.out()) {
    before.columns = resizing.rows;
    before.channels = resizing.channels;
    return before;
  }
  const std::int64_t size_before = before.rows.out() * before.channels;
  if (resizing.channels == size_before && before.batch == resizing.batch * resizing.rows.in) {
    before.columns = before.rows;
    before.rows = resizing.rows;
    before.batch = resizing.batch;
    return before;
  }
  return resizing;
}

template <typename T>
xla::Literal weight_literal(const Resizing& resizing) {
  std::vector<T> numbers;
  for (const Neighbours* one : {&resizing.rows, &resizing.columns}) {
    for (const double weight : one->weights) numbers.push_back(static_cast<T>(weight));
  }
  return xla::LiteralUtil::CreateR1<T>(numbers);
}

}  // namespace

std::int64_t size_of_part(absl::Span<const std::int64_t> sizes, std::int64_t first,
                          std::int64_t end) {
  return product(
      sizes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)));
}

HloInstruction* add_resize(Resizing resizing, const Dimensions& result,
                           const HloInstruction& model) {
  resizing = joined_with_before(std::move(resizing));
  kernels::ResizeCall call{};
  call.batch = resizing.batch;
  call.channels = resizing.channels;
  KernelCall made{"resize", {}, {resizing.operand}, {}, 0};
  std::vector<std::int64_t> starts;
  const Neighbours* const both[] = {&resizing.rows, &resizing.columns};
  for (int d = 0; d < 2; ++d) {
    call.in[d] = both[d]->in;
    call.out[d] = both[d]->out();
    call.taps[d] = both[d]->count;
    starts.insert(starts.end(), both[d]->start.begin(), both[d]->start.end());
  }
  made.words = as_words(call);
  made.words.insert(made.words.end(), starts.begin(), starts.end());
  made.result = result;
  made.scratch_bytes = kernels::resize_scratch_bytes(call, element_bytes(*resizing.operand));
  const bool is_wide = resizing.operand->shape().element_type() == xla::F64;
  made.operands.push_back(resizing.operand->parent()->AddInstruction(HloInstruction::CreateConstant(
      is_wide ? weight_literal<double>(resizing) : weight_literal<float>(resizing))));
  return add_kernel_call(made, model);
}

// `x` with one dimension resized.
HloInstruction* resize_along(HloInstruction* x, std::int64_t axis, const Neighbours& neighbours,
                             const HloInstruction& model) {
  const auto sizes = x->shape().dimensions();
  Resizing resizing{x, size_of_part(sizes, 0, axis), neighbours, unchanged(1),
                    size_of_part(sizes, axis + 1, x->shape().rank())};
  Dimensions result(sizes.begin(), sizes.end());
  result[static_cast<std::size_t>(axis)] = neighbours.out();
  return add_resize(std::move(resizing), result, model);
}

}  // namespace tfaot::toolkit::engine
