// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/joined_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "compiler/sizes/polynomial.h"
#include "compiler/sizes/strided_loop.h"
#include "xla/service/call_inliner.h"

namespace tfaot::toolkit::engine {
namespace {

// Polynomials with third powers are equal if they are equal at four sizes.
std::vector<Dimensions> points_of(const std::vector<FreeDimension>& range) {
  std::vector<Dimensions> points = {{}};
  for (const FreeDimension& one : range) {
    std::set<std::int64_t> sizes = {one.largest};
    for (std::int64_t i = 0; i < 3; ++i) {
      sizes.insert(std::min(one.smallest + i, one.largest));
    }
    std::vector<Dimensions> longer;
    for (const Dimensions& point : points) {
      for (const std::int64_t size : sizes) longer.push_back(joined({point, {&size, 1}}));
    }
    points = std::move(longer);
  }
  return points;
}

// The first elements of a tensor in another shape.
HloInstruction* start_as(HloInstruction* x, const xla::Shape& shape) {
  const std::int64_t elements = product(shape.dimensions());
  if (elements == elements_of(*x)) return reshape(x, shape.dimensions());
  return reshape(slice(reshape(x, {elements_of(*x)}), {0}, {elements}), shape.dimensions());
}

bool has_values(const SizeFormula& formula, const std::vector<Dimensions>& points,
                const std::vector<std::int64_t>& values) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (size_at(formula, points[i]) != values[i]) return false;
  }
  return true;
}

// "min(n, 54)"
std::optional<SizeFormula> formula_with_most(const std::vector<Dimensions>& points,
                                             const std::vector<std::int64_t>& values) {
  const std::int64_t most = std::ranges::max(values);
  std::vector<Dimensions> below;
  std::vector<std::int64_t> of_below;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (values[i] == most) continue;
    below.push_back(points[i]);
    of_below.push_back(values[i]);
  }
  const auto found = SizePolynomial::through(below, of_below);
  if (!found) return std::nullopt;
  std::optional<SizeFormula> formula = found->formula();
  if (!formula) return std::nullopt;
  formula->most = most;
  return has_values(*formula, points, values) ? formula : std::nullopt;
}

// A vector of the most elements where they differ.
xla::Shape widest(const std::vector<xla::Shape>& shapes) {
  const bool is_one = std::ranges::all_of(shapes, [&](const xla::Shape& one) {
    return xla::ShapeUtil::Compatible(one, shapes.front());
  });
  if (is_one) return shapes.front();
  std::int64_t most = 0;
  for (const xla::Shape& one : shapes) most = std::max(most, product(one.dimensions()));
  return shape_of(shapes.front().element_type(), {most});
}

using Tensors = std::vector<TensorSpec> OptimizedModel::*;

class PieceJoiner {
 public:
  PieceJoiner(const std::vector<SizePiece>& pieces, const std::vector<FreeDimension>& range,
              Traces traces)
      : pieces_(pieces), range_(range), traces_(traces), outputs_(joined_outputs(pieces)) {}

  Result<OptimizedModel> join() {
    const OptimizedModel& last = pieces_.back().model;
    OptimizedModel model{
        .xla_products = last.xla_products, .remarks = last.remarks, .has_sizes = true};
    TFAOT_ASSIGN(model.inputs, sized(&OptimizedModel::inputs));
    TFAOT_ASSIGN(model.outputs, sized(&OptimizedModel::outputs));
    for (const SizePiece& piece : pieces_) {
      model.has_live_rows = model.has_live_rows || piece.model.has_live_rows;
      model.has_tasks = model.has_tasks || piece.model.has_tasks;
      for (const std::size_t weight : piece.model.weights) {
        if (std::ranges::find(model.weights, weight) == model.weights.end()) {
          model.weights.push_back(weight);
        }
      }
    }
    TFAOT_ASSIGN(model.computation, with_branches(model));
    model.shape = xla::ProgramShape(model.computation.proto().host_program_shape());
    return model;
  }

 private:
  // The tensors of all pieces, with formulas of their sizes.
  Result<std::vector<TensorSpec>> sized(Tensors tensors) const {
    std::vector<TensorSpec> all = pieces_.back().model.*tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].free_shape.clear();
      for (std::size_t d = 0; d < all[i].row_shape.size(); ++d) {
        TFAOT_ASSIGN(SizeFormula size, size_of_all(tensors, i, d));
        all[i].row_shape[d] = size_at(size, default_sizes(range_));
        all[i].free_shape.push_back(std::move(size));
      }
      if (std::ranges::all_of(all[i].free_shape, is_constant)) all[i].free_shape.clear();
    }
    return all;
  }

  Result<SizeFormula> size_of_all(Tensors tensors, std::size_t tensor, std::size_t d) const {
    std::vector<Dimensions> points;
    std::vector<std::int64_t> values;
    for (const SizePiece& piece : pieces_) {
      const TensorSpec& of_piece = (piece.model.*tensors)[tensor];
      for (Dimensions& point : points_of(piece.range)) {
        values.push_back(of_piece.free_shape.empty() ? of_piece.row_shape[d]
                                                     : size_at(of_piece.free_shape[d], point));
        points.push_back(std::move(point));
      }
    }
    for (const SizePiece& piece : pieces_) {
      const auto& shape = (piece.model.*tensors)[tensor].free_shape;
      if (!shape.empty() && has_values(shape[d], points, values)) return shape[d];
    }
    if (const auto found = SizePolynomial::through(points, values)) return *found->formula();
    if (const auto found = formula_with_most(points, values)) return *found;
    const std::string& name = (pieces_.back().model.*tensors)[tensor].name;
    return fail(
        Error(fmt::format("the size of the output '{}' is no polynomial of the free sizes, nor "
                          "the smaller one of it and a number",
                          name)));
  }

  // The parameter of all pieces that is this parameter of one.
  std::int64_t place_of(std::int64_t number, const OptimizedModel& piece,
                        const OptimizedModel& model) const {
    const std::int64_t inputs = std::ssize(model.inputs);
    if (number < inputs) return number;
    std::int64_t place = number - inputs;
    if (place < std::ssize(piece.weights)) {
      return inputs + (std::ranges::find(model.weights, entry(piece.weights, place)) -
                       model.weights.begin());
    }
    place -= std::ssize(piece.weights);
    const std::pair<bool, bool> others[] = {{piece.has_live_rows, model.has_live_rows},
                                            {piece.has_tasks, model.has_tasks}};
    std::int64_t after = inputs + std::ssize(model.weights);
    for (const auto& [of_piece, of_all] : others) {
      if (of_piece && place-- == 0) return after;
      after += of_all ? 1 : 0;
    }
    return after;
  }

  Result<xla::XlaComputation> with_branches(const OptimizedModel& model) {
    for (const SizePiece& piece : pieces_) {
      TFAOT_ASSIGN(auto module, make_module(piece.model.computation.proto()));
      modules_.push_back(std::move(module));
    }
    xla::HloModule all("pieces", xla::HloModuleConfig());
    TFAOT_TRY(add_parameters(model, all));
    std::vector<xla::HloComputation*> branches;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      TFAOT_ASSIGN(auto* const branch, branch_of(i, model, all));
      branches.push_back(branch);
    }
    xla::HloComputation& whole = *all.entry_computation();
    HloInstruction* const state =
        tuple_of({whole.parameter_instructions().begin(), whole.parameter_instructions().end()});
    HloInstruction* const chosen =
        add_next_to(state, HloInstruction::CreateConditional(
                               branches.front()->root_instruction()->shape(), place_of_piece(),
                               branches, Instructions(branches.size(), state)));
    Instructions outputs;
    for (std::int64_t i = 0; i < std::ssize(model.outputs); ++i) {
      outputs.push_back(element_of(chosen, i));
    }
    whole.set_root_instruction(tuple_of(outputs), /*accept_different_shape=*/true);
    all.mutable_config().SetDefaultComputationLayout(whole.ComputeProgramShape());
    TFAOT_TRY(checked(all.RemoveUnusedComputations()));
    return canonical(xla::XlaComputation(all.ToProto()), traces_);
  }

  Status add_parameters(const OptimizedModel& model, xla::HloModule& all) {
    std::map<std::int64_t, std::vector<xla::Shape>> shapes;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      for (const auto* one : modules_[i]->entry_computation()->parameter_instructions()) {
        shapes[place_of(one->parameter_number(), pieces_[i].model, model)].push_back(one->shape());
      }
    }
    const std::int64_t last = shapes.rbegin()->first;
    const bool has_sizes =
        std::ranges::any_of(pieces_, [](const SizePiece& piece) { return piece.model.has_sizes; });
    if (!has_sizes) shapes[last + 1] = {shape_of(xla::S64, {std::ssize(range_)})};
    xla::HloComputation::Builder builder("pieces");
    for (const auto& [number, of_pieces] : shapes) {
      const bool is_input = number < std::ssize(model.inputs);
      sizes_ = builder.AddInstruction(HloInstruction::CreateParameter(
          number, is_input ? widest(of_pieces) : of_pieces.front(), fmt::format("p{}", number)));
    }
    all.AddEntryComputation(builder.Build());
    return {};
  }

  // The piece's computation, on the tuple of all parameters.
  Result<xla::HloComputation*> branch_of(std::size_t piece, const OptimizedModel& model,
                                         xla::HloModule& all) {
    xla::HloCloneContext context(&all);
    xla::HloComputation* const body =
        all.DeepCloneComputation(modules_[piece]->entry_computation(), &context);
    std::vector<xla::Shape> shapes;
    for (const auto* one : all.entry_computation()->parameter_instructions()) {
      shapes.push_back(one->shape());
    }
    xla::HloComputation::Builder builder("piece");
    HloInstruction* const state = builder.AddInstruction(
        HloInstruction::CreateParameter(0, xla::ShapeUtil::MakeTupleShape(shapes), "state"));
    xla::HloComputation* const branch = all.AddEmbeddedComputation(builder.Build());
    Instructions arguments;
    for (const auto* one : body->parameter_instructions()) {
      const std::int64_t place = place_of(one->parameter_number(), pieces_[piece].model, model);
      arguments.push_back(start_as(element_of(state, place), one->shape()));
    }
    HloInstruction* const call = add_next_to(
        state, HloInstruction::CreateCall(body->root_instruction()->shape(), arguments, body));
    Instructions outputs;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      HloInstruction* const output = element_of(call, static_cast<std::int64_t>(i));
      outputs.push_back(xla::ShapeUtil::Compatible(output->shape(), outputs_[i])
                            ? output
                            : at_start(output, outputs_[i]));
    }
    branch->set_root_instruction(tuple_of(outputs), /*accept_different_shape=*/true);
    TFAOT_TRY(checked(xla::CallInliner::Inline(call).status()));
    return branch;
  }

  // A vector that begins with these elements.
  HloInstruction* at_start(HloInstruction* x, const xla::Shape& shape) {
    HloInstruction* const whole = unwritten_next_to(x, shape, ++unwritten_, *x);
    if (elements_of(*x) == 0) return whole;
    return add_next_to(x, HloInstruction::CreateDynamicUpdateSlice(
                              shape, whole, reshape(x, {elements_of(*x)}), {number_next_to(x, 0)}));
  }

  // Of the sizes of this call, among all pieces.
  HloInstruction* place_of_piece() const {
    HloInstruction* place =
        scalar_next_to(sizes_, xla::S32, static_cast<double>(pieces_.size()) - 1);
    for (std::size_t i = pieces_.size() - 1; i-- > 0;) {
      HloInstruction* const own = scalar_next_to(sizes_, xla::S32, static_cast<double>(i));
      place = select(is_in(pieces_[i].range), own, place);
    }
    return place;
  }

  HloInstruction* is_in(const std::vector<FreeDimension>& part) const {
    using Direction = xla::ComparisonDirection;
    HloInstruction* all = nullptr;
    for (std::size_t d = 0; d < part.size(); ++d) {
      const auto place = static_cast<std::int64_t>(d);
      HloInstruction* const size = reshape(slice(sizes_, {place}, {place + 1}), {});
      if (part[d].smallest > range_[d].smallest) {
        all = accumulate(kAnd, all,
                         compare(size, Direction::kGe, number_next_to(size, part[d].smallest)));
      }
      if (part[d].largest < range_[d].largest) {
        all = accumulate(kAnd, all,
                         compare(size, Direction::kLe, number_next_to(size, part[d].largest)));
      }
    }
    return all;
  }

  const std::vector<SizePiece>& pieces_;
  const std::vector<FreeDimension>& range_;
  const Traces traces_;
  std::vector<std::unique_ptr<xla::HloModule>> modules_;  // of the pieces
  HloInstruction* sizes_ = nullptr;                       // the last parameter of all
  const std::vector<xla::Shape> outputs_;
  std::int64_t unwritten_ = 0;  // how many there are
};

}  // namespace

std::vector<xla::Shape> joined_outputs(const std::vector<SizePiece>& pieces) {
  std::vector<xla::Shape> outputs;
  for (int i = 0; i < pieces.front().model.shape.result().tuple_shapes_size(); ++i) {
    std::vector<xla::Shape> of_pieces;
    for (const SizePiece& piece : pieces) {
      of_pieces.push_back(piece.model.shape.result().tuple_shapes(i));
    }
    outputs.push_back(widest(of_pieces));
  }
  return outputs;
}

Result<OptimizedModel> joined_pieces(const std::vector<SizePiece>& pieces,
                                     const std::vector<FreeDimension>& range, Traces traces) {
  return PieceJoiner(pieces, range, traces).join();
}

}  // namespace tfaot::toolkit::engine
