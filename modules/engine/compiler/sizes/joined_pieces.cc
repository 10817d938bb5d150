// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/joined_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/sizes/polynomial.h"
#include "compiler/sizes/strided_loop.h"
#include "xla/service/call_inliner.h"

namespace tfaot::toolkit::engine {
namespace {

// Polynomials with third powers are equal if they are equal at four sizes, and with bits of the
// sizes at the next ones.
std::vector<Dimensions> points_of(const std::vector<FreeDimension>& range) {
  std::vector<Dimensions> points = {{}};
  for (const FreeDimension& one : range) {
    std::set<std::int64_t> sizes = {one.largest};
    constexpr std::int64_t kNext = 12;
    for (std::int64_t i = 0; i < kNext; ++i) {
      sizes.insert(std::min(one.smallest + i * one.step, one.largest));
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

// The sizes in both, of which one has some of the other one's steps.
SizeSteps both(const SizeSteps& a, SizeSteps b) {
  if (b.step < a.step) return both(b, a);
  while (b.smallest < a.smallest) b.smallest += b.step;
  b.largest = std::min(a.largest, b.largest);
  return b;
}

// With one term for the same powers, and small factors.
SizeFormula simple(const SizeFormula& formula) {
  SizeFormula made{{}, formula.divisor};
  std::int64_t common = formula.divisor;
  for (const SizeTerm& term : formula.terms) {
    const auto same = std::ranges::find_if(made.terms, [&](const SizeTerm& one) {
      return one.powers == term.powers && one.within == term.within;
    });
    if (same == made.terms.end()) {
      made.terms.push_back(term);
    } else {
      same->factor += term.factor;
    }
  }
  std::erase_if(made.terms, [](const SizeTerm& term) { return term.factor == 0; });
  for (const SizeTerm& term : made.terms) common = std::gcd(common, term.factor);
  for (SizeTerm& term : made.terms) term.factor /= common;
  made.divisor /= common;
  return made;
}

// Both with a common divisor. `within`: the second one counts there alone.
SizeFormula sum_of_formulas(SizeFormula a, SizeFormula b, const std::vector<SizeSteps>& within) {
  const std::int64_t divisor = std::lcm(a.divisor, b.divisor);
  for (SizeTerm& term : a.terms) term.factor *= divisor / a.divisor;
  for (SizeTerm& term : b.terms) {
    term.factor *= divisor / b.divisor;
    term.within.resize(within.size());
    for (std::size_t d = 0; d < within.size(); ++d) {
      term.within[d] = both(within[d], term.within[d]);
    }
    a.terms.push_back(std::move(term));
  }
  a.divisor = divisor;
  return a;
}

// A vector of the most elements where they differ, but of no more than these.
xla::Shape widest(const std::vector<xla::Shape>& shapes, std::int64_t limit = kLargestSize) {
  const bool is_one = std::ranges::all_of(shapes, [&](const xla::Shape& one) {
    return xla::ShapeUtil::Compatible(one, shapes.front());
  });
  if (is_one) return shapes.front();
  std::int64_t most = 0;
  for (const xla::Shape& one : shapes) most = std::max(most, product(one.dimensions()));
  return shape_of(shapes.front().element_type(), {std::min(most, limit)});
}

using Tensors = std::vector<TensorSpec> OptimizedModel::*;

class PieceJoiner {
 public:
  PieceJoiner(const std::vector<SizePiece>& pieces, const std::vector<FreeDimension>& range,
              std::int64_t batch_size, Traces traces)
      : pieces_(pieces),
        range_(range),
        traces_(traces),
        outputs_(joined_outputs(pieces, batch_size)) {}

  Result<OptimizedModel> join() {
    const OptimizedModel& last = pieces_.back().model;
    OptimizedModel model{
        .xla_products = last.xla_products, .remarks = last.remarks, .has_sizes = true};
    model.inputs = sized(&OptimizedModel::inputs);
    model.outputs = sized(&OptimizedModel::outputs);
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
  std::vector<TensorSpec> sized(Tensors tensors) const {
    std::vector<TensorSpec> all = pieces_.back().model.*tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].free_shape.clear();
      for (std::size_t d = 0; d < all[i].row_shape.size(); ++d) {
        for (const SizePiece& piece : pieces_) {
          all[i].row_shape[d] =
              std::max(all[i].row_shape[d], (piece.model.*tensors)[i].row_shape[d]);
        }
        all[i].free_shape.push_back(size_of_all(tensors, i, d));
      }
      if (std::ranges::all_of(all[i].free_shape, is_constant)) all[i].free_shape.clear();
    }
    return all;
  }

  SizeFormula size_of_all(Tensors tensors, std::size_t tensor, std::size_t d) const {
    std::vector<Dimensions> points;
    std::vector<std::int64_t> values;
    std::vector<SizeFormula> of_pieces;
    for (const SizePiece& piece : pieces_) {
      const TensorSpec& of_piece = (piece.model.*tensors)[tensor];
      of_pieces.push_back(of_piece.free_shape.empty() ? SizeFormula{{{of_piece.row_shape[d]}}}
                                                      : of_piece.free_shape[d]);
      for (Dimensions& point : points_of(piece.range)) {
        values.push_back(size_at(of_pieces.back(), point));
        points.push_back(std::move(point));
      }
    }
    for (const SizeFormula& one : of_pieces) {
      if (has_values(one, points, values)) return one;
    }
    if (const auto found = SizePolynomial::through(points, values)) return found->formula();
    if (const auto found = quotient_through(points, values)) {
      SizeFormula quotient{{{found->factor, Dimensions(found->dimension + 1)}}, found->divisor};
      quotient.terms.front().powers.back() = 1;
      if (found->more != 0) quotient.terms.push_back({found->more});
      return quotient;
    }
    SizeFormula sum;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      sum = sum_of_formulas(sum, of_pieces[i],
                            mapped(pieces_[i].range, [](const FreeDimension& one) -> SizeSteps {
                              return {one.smallest, one.largest, one.step};
                            }));
    }
    return sum;
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
    if (pieces_[piece].model.has_sizes) arguments.back() = counts_in(piece, arguments.back());
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

  // How many steps of the piece's range lie before the sizes.
  HloInstruction* counts_in(std::size_t piece, HloInstruction* sizes) const {
    const Dimensions steps = mapped(pieces_[piece].range, &FreeDimension::step);
    if (std::ranges::all_of(steps, [](std::int64_t step) { return step == 1; })) return sizes;
    return binary(kDivide, sizes, words_next_to(sizes, steps));
  }

  // A vector that begins with these elements, or with as many as it has.
  HloInstruction* at_start(HloInstruction* x, const xla::Shape& shape) {
    if (elements_of(*x) >= product(shape.dimensions())) return start_as(x, shape);
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
      if (part[d].smallest >= range_[d].smallest + part[d].step) {
        all = accumulate(kAnd, all,
                         compare(size, Direction::kGe, number_next_to(size, part[d].smallest)));
      }
      if (part[d].largest <= range_[d].largest - part[d].step) {
        all = accumulate(kAnd, all,
                         compare(size, Direction::kLe, number_next_to(size, part[d].largest)));
      }
      if (part[d].step > range_[d].step) {
        HloInstruction* const rest = binary(kRemainder, size, number_next_to(size, part[d].step));
        all = accumulate(
            kAnd, all,
            compare(rest, Direction::kEq, number_next_to(size, part[d].smallest % part[d].step)));
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

SizeFormula of_sizes(const SizeFormula& of_counts, const std::vector<FreeDimension>& range) {
  SizeFormula formula = of_counts;
  for (std::size_t d = 0; d < range.size(); ++d) {
    const std::int64_t step = range[d].step;
    if (step == 1) continue;
    const std::int64_t rest = range[d].smallest % step;
    // A count is (size - rest) / step.
    std::int64_t most = 0;
    for (const SizeTerm& term : formula.terms) {
      if (d < term.powers.size()) most = std::max(most, term.powers[d]);
    }
    std::vector<SizeTerm> terms;
    for (SizeTerm& term : formula.terms) {
      if (d < term.within.size()) {
        SizeSteps& steps = term.within[d];
        const bool is_open = steps.largest == kLargestSize;
        steps = {steps.smallest * step + rest, is_open ? kLargestSize : steps.largest * step + rest,
                 steps.step * step};
      }
      const std::int64_t power = d < term.powers.size() ? term.powers[d] : 0;
      for (std::int64_t i = power; i < most; ++i) term.factor *= step;
      // (size - rest)^power, by its binomial coefficients.
      std::int64_t factor = term.factor;
      for (std::int64_t i = power; i >= 0; --i) {
        SizeTerm of_size = term;
        of_size.factor = factor;
        if (power > 0) of_size.powers[d] = i;
        while (!of_size.powers.empty() && of_size.powers.back() == 0) of_size.powers.pop_back();
        if (factor != 0) terms.push_back(std::move(of_size));
        factor = factor * i / (power - i + 1) * -rest;
      }
    }
    for (std::int64_t i = 0; i < most; ++i) formula.divisor *= step;
    formula.terms = std::move(terms);
  }
  return simple(formula);
}

std::vector<xla::Shape> joined_outputs(const std::vector<SizePiece>& pieces,
                                       std::int64_t batch_size) {
  std::vector<xla::Shape> outputs;
  for (int i = 0; i < pieces.front().model.shape.result().tuple_shapes_size(); ++i) {
    std::vector<xla::Shape> of_pieces;
    Dimensions most(entry(pieces.front().model.outputs, i).row_shape.size());
    for (const SizePiece& piece : pieces) {
      of_pieces.push_back(piece.model.shape.result().tuple_shapes(i));
      std::ranges::transform(most, entry(piece.model.outputs, i).row_shape, most.begin(),
                             std::ranges::max);
    }
    // An input that is passed through may be longer than the memory of the output.
    outputs.push_back(widest(of_pieces, batch_size * product(most) + kElementsBeyond));
  }
  return outputs;
}

Result<OptimizedModel> joined_pieces(const std::vector<SizePiece>& pieces,
                                     const std::vector<FreeDimension>& range,
                                     std::int64_t batch_size, Traces traces) {
  return PieceJoiner(pieces, range, batch_size, traces).join();
}

}  // namespace tfaot::toolkit::engine
