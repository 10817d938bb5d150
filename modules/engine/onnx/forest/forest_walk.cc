// SPDX-License-Identifier: Apache-2.0
#include "onnx/forest/forest_walk.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "hlo/forest_call.h"
#include "onnx/forest/forest_tables.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/loops.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// The computation of one forest. All operations are of its own builder.
class ForestWalk {
 public:
  ForestWalk(const Node& node, const ForestTables& tables, Aggregate aggregate, std::int64_t rows)
      : node_(node),
        tables_(tables),
        aggregate_(aggregate),
        rows_(rows),
        keys_(tables.type == xla::F64 ? xla::S64 : xla::S32),
        builder_(computation_builder(node, "forest")) {
    for (const ForestBlock& block : tables.blocks) trees_ += block.trees;
  }

  xla::XlaComputation build() {
    const XlaOp x =
        xla::Parameter(builder_.get(), 0, shape_of(tables_.type, {rows_, tables_.features}), "x");
    const XlaOp nodes = xla::Parameter(builder_.get(), 1, tables_.nodes.shape(), "nodes");
    const XlaOp places = walk(keys_of(x), nodes);
    const XlaOp found = node_part(pairs_at(nodes, places), 0);
    const XlaOp sums = tables_.has_vectors() ? sums_of_vectors(found) : sums_of_trees(found);
    return built_computation(node_, *builder_, sums);
  }

 private:
  using ForestBlock = kernels::ForestBlock;

  XlaOp number(xla::XlaBuilder& builder, std::int64_t value) const {
    return xla::ConstantR0WithType(&builder, keys_, value);
  }

  // [rows, slots]
  XlaOp keys_of(XlaOp x) {
    const bool is_double = tables_.type == xla::F64;
    const std::int64_t largest = is_double ? std::numeric_limits<std::int64_t>::max()
                                           : std::numeric_limits<std::int32_t>::max();
    const XlaOp high = number(*builder_, largest);
    const XlaOp low = number(*builder_, -largest - 1);
    const XlaOp bits = xla::BitcastConvertType(x, keys_);
    const XlaOp keys = xla::Select(xla::Lt(bits, xla::ZerosLike(bits)), xla::Xor(bits, high), bits);
    const XlaOp is_missing = xla::Ne(x, x);
    const auto with = [&](XlaOp missing) {
      return xla::Select(is_missing, xla::Broadcast(missing, {rows_, tables_.features}), keys);
    };
    std::vector<XlaOp> all = {xla::Broadcast(low, {rows_, 1}), with(high)};
    if (tables_.slots > 1 + tables_.features) all.push_back(with(low));
    return xla::ConcatInDim(builder_.get(), all, 1);
  }

  // [rows, trees, 2]
  XlaOp pairs_at(XlaOp nodes, XlaOp places) const {
    xla::GatherDimensionNumbers numbers;
    numbers.add_offset_dims(2);
    numbers.add_collapsed_slice_dims(0);
    numbers.add_start_index_map(0);
    numbers.set_index_vector_dim(2);
    return xla::Gather(nodes, places, numbers, {1, 2});
  }
  XlaOp node_part(XlaOp pairs, std::int64_t which) const {
    return xla::Reshape(xla::SliceInDim(pairs, which, which + 1, 1, 2), {rows_, trees_});
  }

  XlaOp next_places(xla::XlaBuilder& builder, XlaOp keys, XlaOp nodes, XlaOp places) const {
    const std::int64_t bits = kernels::forest_slot_bits(tables_.type == xla::F64 ? 8 : 4);
    const XlaOp pairs = pairs_at(nodes, places);
    const XlaOp word = node_part(pairs, 1);
    const XlaOp slot = xla::And(word, number(builder, (std::int64_t{1} << bits) - 1));
    const XlaOp next = xla::ShiftRightLogical(word, number(builder, bits));
    // Row and slot of each.
    const Dimensions one = {rows_, trees_, 1};
    const XlaOp row = xla::Iota(&builder, shape_of(keys_, one), 0);
    const XlaOp places_of_keys = xla::ConcatInDim(&builder, {row, xla::Reshape(slot, one)}, 2);
    xla::GatherDimensionNumbers numbers;
    for (const std::int64_t dimension : {0, 1}) {
      numbers.add_collapsed_slice_dims(dimension);
      numbers.add_start_index_map(dimension);
    }
    numbers.set_index_vector_dim(2);
    const XlaOp key = xla::Gather(keys, places_of_keys, numbers, {1, 1});
    const XlaOp is_larger = xla::Gt(key, node_part(pairs, 0));
    return xla::Add(next, xla::ConvertElementType(is_larger, keys_));
  }

  XlaOp walk(XlaOp keys, XlaOp nodes) {
    const XlaOp roots = xla::Iota(builder_.get(), shape_of(keys_, {rows_, trees_}), 1);
    if (tables_.depth == 0) return roots;
    const XlaOp start = xla::Tuple(builder_.get(), {number(*builder_, 0), roots, keys, nodes});
    const xla::Shape shape = node_.shape_of_op(start);

    const auto condition = computation_builder(node_, "condition");
    const XlaOp step = xla::GetTupleElement(xla::Parameter(condition.get(), 0, shape, "state"), 0);
    const auto is_going =
        built_computation(node_, *condition, xla::Lt(step, number(*condition, tables_.depth)));

    const auto body = computation_builder(node_, "step");
    const XlaOp state = xla::Parameter(body.get(), 0, shape, "state");
    const XlaOp same_keys = xla::GetTupleElement(state, 2);
    const XlaOp same_nodes = xla::GetTupleElement(state, 3);
    const XlaOp next = next_places(*body, same_keys, same_nodes, xla::GetTupleElement(state, 1));
    const XlaOp count = xla::Add(xla::GetTupleElement(state, 0), number(*body, 1));
    const auto one_step = built_computation(
        node_, *body, xla::Tuple(body.get(), {count, next, same_keys, same_nodes}));
    return xla::GetTupleElement(xla::While(is_going, one_step, start), 1);
  }

  XlaOp reduced(XlaOp values) const {
    xla::XlaBuilder* const builder = builder_.get();
    const auto type = tables_.type;
    // Without votes it is zero, as in ONNX Runtime.
    const auto or_zero = [](XlaOp found, XlaOp start) {
      return xla::Select(xla::Eq(found, start), xla::ZerosLike(found), found);
    };
    if (aggregate_ == Aggregate::kMin) {
      const XlaOp start = xla::MaxFiniteValue(builder, type);
      return or_zero(
          xla::Reduce(values, start, xla::CreateScalarMinComputation(type, builder), {1}), start);
    }
    if (aggregate_ == Aggregate::kMax) {
      const XlaOp start = xla::MinFiniteValue(builder, type);
      return or_zero(
          xla::Reduce(values, start, xla::CreateScalarMaxComputation(type, builder), {1}), start);
    }
    return xla::Reduce(values, xla::Zero(builder, type),
                       xla::CreateScalarAddComputation(type, builder), {1});
  }

  XlaOp sums_of_trees(XlaOp found) {
    const XlaOp weights = xla::BitcastConvertType(found, tables_.type);
    std::vector<XlaOp> sums;
    std::int64_t made = 0;  // targets
    const auto fill_up_to = [&](std::int64_t target) {
      if (target == made) return;
      sums.push_back(
          xla::Broadcast(xla::Zero(builder_.get(), tables_.type), {rows_, target - made}));
      made = target;
    };
    std::int64_t first = 0;
    for (auto block = tables_.blocks.begin(); block != tables_.blocks.end();) {
      const std::int64_t target = block->target;
      std::int64_t end = first;
      for (; block != tables_.blocks.end() && block->target == target; ++block) end += block->trees;
      fill_up_to(target);  // no tree votes for those between
      const XlaOp of_target = reduced(xla::SliceInDim(weights, first, end, 1, 1));
      sums.push_back(xla::Reshape(of_target, {rows_, 1}));
      made = target + 1;
      first = end;
    }
    fill_up_to(tables_.targets);
    return xla::ConcatInDim(builder_.get(), sums, 1);
  }

  XlaOp sums_of_vectors(XlaOp found) {
    const XlaOp leaves = xla::Parameter(builder_.get(), 2, tables_.leaves.shape(), "leaves");
    xla::GatherDimensionNumbers numbers;
    numbers.add_offset_dims(2);
    numbers.add_collapsed_slice_dims(0);
    numbers.add_start_index_map(0);
    numbers.set_index_vector_dim(2);
    return reduced(xla::Gather(leaves, found, numbers, {1, tables_.targets}));
  }

  const Node& node_;
  const ForestTables& tables_;
  Aggregate aggregate_;
  std::int64_t rows_;
  xla::PrimitiveType keys_;
  std::int64_t trees_ = 0;
  std::unique_ptr<xla::XlaBuilder> builder_;
};

// What the kernel makes.
bool is_sum(Aggregate aggregate) {
  return aggregate == Aggregate::kSum || aggregate == Aggregate::kAverage;
}

}  // namespace

XlaOp walk_forest(Node& node, XlaOp x, const Forest& forest) {
  const Dimensions sizes = node.sizes_of(x);
  xla::XlaBuilder* const builder = &node.builder();
  node.check_made(leaf_elements(forest), kMostMadeElements);
  const ForestTables tables = forest_tables(forest, node.type_of(x), sizes.back());
  if (forest.roots.empty()) {
    return xla::Broadcast(xla::Zero(builder, tables.type), {sizes.front(), forest.targets});
  }
  std::vector<XlaOp> operands = {xla::ConvertElementType(x, tables.type),
                                 node.keep("trees", tables.nodes)};
  if (tables.has_vectors()) operands.push_back(node.keep("leaves", tables.leaves));
  const auto computation = ForestWalk(node, tables, forest.aggregate, sizes.front()).build();
  std::optional<xla::XlaScopedFrontendAttributesAssignment> marked;
  if (is_sum(forest.aggregate)) {
    kernels::ForestCall call{};
    call.rows = sizes.front();
    call.features = tables.features;
    call.slots = tables.slots;
    call.targets = tables.targets;
    call.vectors = tables.has_vectors() ? 1 : 0;
    call.tops = tables.tops;
    marked.emplace(builder, forest_attributes(call, tables.blocks));
  }
  const XlaOp sums = xla::Call(builder, computation, operands);
  marked.reset();
  if (forest.aggregate != Aggregate::kAverage) return sums;
  return xla::Div(sums, scalar_like(node, sums, static_cast<double>(forest.roots.size())));
}

}  // namespace tfaot::toolkit::engine
