// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/packing.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::DenseChainCall;
using kernels::DenseLayer;
using kernels::MatMulCall;

struct Link {
  HloInstruction* call;    // the product
  HloInstruction* result;  // after its function, and after reshapes if the next layer reads it
  DenseLayer layer;
  std::int64_t weight_bytes;
};

struct Chain {
  std::vector<Link> links;
  std::int64_t weight_bytes = 0;
};

bool is_dense_layer(const HloInstruction& one) {
  if (!is_call_of(one, Kernel::kMatMul) || element_bytes(*one.operand(1)) != sizeof(float)) {
    return false;
  }
  const auto call = call_of<MatMulCall>(one);
  constexpr std::int64_t kPlain = kernels::kEpilogueBias | kernels::kEpilogueRelu6;
  const bool is_plain = call.rhs_packed != 0 && call.batch == 1 && call.live_rows == 0 &&
                        (call.epilogue & ~kPlain) == 0;
  return is_plain && (call.lhs_depth_stride == 1 || call.depth == 1) &&
         (call.lhs_row_stride == call.depth || call.rows == 1) &&
         elements_of(*one.operand(1)) == call.rows * call.depth;
}

// The layer of a product; no call if its result is not there.
Link link_of(HloInstruction& product) {
  HloInstruction* const first = only_result(product);
  if (first == nullptr) return {};
  const auto call = call_of<MatMulCall>(product);
  Link link{&product,
            first,
            {call.columns, call.epilogue, {kernels::kFunctionNone, 1, 1}},
            static_cast<std::int64_t>(xla::ShapeUtil::ByteSizeOf(product.operand(2)->shape()))};
  if ((call.epilogue & kernels::kEpilogueRelu) != 0) return link;
  const auto found = function_of(*after_reshapes(first));
  if (found) {
    link.result = found->result;
    link.layer.function = found->of_kernel();
  }
  return link;
}

// The product of which a value is the left side, with the same rows; null: it goes elsewhere too.
HloInstruction* next_product(Link& link) {
  HloInstruction* const value = after_reshapes(link.result);
  HloInstruction* const user = only_user(*value);
  if (user == nullptr || !is_dense_layer(*user) || user->operand(1) != value) return nullptr;
  const auto before = call_of<MatMulCall>(*link.call);
  const auto after = call_of<MatMulCall>(*user);
  const bool is_once = std::count(user->operands().begin(), user->operands().end(), value) == 1;
  if (!is_once || after.rows != before.rows || after.depth != before.columns) return nullptr;
  return user;
}

Chain chain_from(HloInstruction& product, PassContext& context) {
  Chain chain;
  const std::int64_t most =
      call_of<MatMulCall>(product).rows > tuned().dense_chain_most_rows_of_large_layers
          ? tuned().dense_chain_most_layer_bytes_of_many_rows
          : tuned().dense_chain_most_layer_bytes;
  for (HloInstruction* next = &product; next != nullptr;) {
    const Link link = link_of(*next);
    if (link.call == nullptr || link.weight_bytes > most ||
        chain.weight_bytes + link.weight_bytes > tuned().dense_chain_most_bytes) {
      if (link.call != nullptr && !chain.links.empty()) {
        add_remark(
            context, *next,
            fmt::format("no dense_chain with the layers before it: its weights have {} bytes",
                        link.weight_bytes));
      }
      break;
    }
    chain.links.push_back(link);
    chain.weight_bytes += link.weight_bytes;
    next = next_product(chain.links.back());
  }
  return chain;
}

Status replace_chain(const Chain& chain) {
  const HloInstruction& first = *chain.links.front().call;
  HloInstruction& last = *chain.links.back().result;
  const auto product = call_of<MatMulCall>(first);
  DenseChainCall call{product.rows, product.depth, std::ssize(chain.links), 1, 0};
  std::vector<HloInstruction*> operands = {chain.links.front().call->mutable_operand(1)};
  for (const Link& link : chain.links) {
    if (link.call != chain.links.back().call) {
      call.widest = std::max(call.widest, link.layer.columns);
    }
    const auto& all = link.call->mutable_operands();
    operands.insert(operands.end(), all.begin() + 2, all.end());
  }
  std::vector<std::int64_t> words = as_words(call);
  for (const Link& link : chain.links) {
    const auto layer = as_words(link.layer);
    words.insert(words.end(), layer.begin(), layer.end());
  }
  return replace(
      last, add_kernel_call({Kernel::kDenseChain, words, operands, dimensions_of(last)}, first));
}

// ---- Facts.

struct DenseChainFacts {
  using Call = DenseChainCall;

  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    return rows.divide(call.rows) && is_first_in_order(one, rows) && others_are_weights(one, rows);
  }
  // The products and functions of all layers. Data between them stays in the first-level cache.
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    ProductSize size{call.rows, 0, call.depth, sizeof(float)};
    double sum = 0;
    for (const DenseLayer& layer : dense_layers(one)) {
      size.columns = layer.columns;
      const auto weights =
          static_cast<double>(kernels::panel_count(size.columns, size.element_bytes) *
                              kernels::kPanelBytes * size.depth);
      sum +=
          speed.multiply(size, weights) + (sum > 0 && weights > kSmallLayerBytes ? kCallCycles : 0);
      sum += function_cycles(layer.function.kind,
                             static_cast<double>(size.rows * size.columns * size.element_bytes),
                             speed);
      size.depth = size.columns;
    }
    return call_cycles(one, speed) + sum;
  }
  static KernelWork work(const Call& call, const HloInstruction& one) {
    std::vector<std::string> layers;
    std::int64_t weights = 0;
    std::int64_t depth = call.depth;
    for (const DenseLayer& layer : dense_layers(one)) {
      layers.push_back(fmt::format("{}{}{}", layer.columns, relu_text(layer.epilogue),
                                   function_text(layer.function.kind)));
      weights += depth * layer.columns;
      depth = layer.columns;
    }
    return {
        fmt::format("{} x {} through layers of {}", call.rows, call.depth, fmt::join(layers, ", ")),
        2 * call.rows * weights};
  }
};

}  // namespace

constinit const KernelFacts kDenseChainFacts = facts_of<DenseChainFacts>();

Status replace_dense_chains(xla::HloModule& module, PassContext& context) {
  std::set<const HloInstruction*> done;
  for (HloInstruction* one : instructions_of(module)) {
    if (!is_dense_layer(*one) || done.contains(one)) continue;
    const Chain chain = chain_from(*one, context);
    for (const Link& link : chain.links) done.insert(link.call);
    if (chain.links.size() > 1) TFAOT_TRY(replace_chain(chain));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
