// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/sized_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/hlo/match.h"
#include "compiler/kernels/kernel_call.h"
#include "compiler/sizes/fitted_module.h"
#include "compiler/sizes/sized_table.h"
#include "compiler/sizes/strided_loop.h"
#include "tfaot/base/text.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/index_util.h"

namespace tfaot::toolkit::engine {
namespace {

// A dimension's index by the turns of loops.
struct LoopIndex {
  std::optional<std::size_t> loop{};  // none: the offset in all turns
  SizePolynomial step = 1;
  SizePolynomial offset = 0;
};
using LoopIndices = std::vector<LoopIndex>;

LoopIndices own_indices(std::size_t rank) {
  LoopIndices indices(rank);
  for (std::size_t d = 0; d < rank; ++d) indices[d].loop = d;
  return indices;
}

Sizes row_major_strides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  return strides;
}

Sizes row_major_strides(const xla::Shape& shape) {
  return row_major_strides(Sizes(shape.dimensions().begin(), shape.dimensions().end()));
}

Place place_of(const LoopIndices& indices, const Sizes& strides, std::size_t loops) {
  Place place{0, Sizes(loops, 0)};
  for (std::size_t d = 0; d < indices.size(); ++d) {
    place.offset = place.offset + indices[d].offset * strides[d];
    if (!indices[d].loop) continue;
    SizePolynomial& stride = place.strides[*indices[d].loop];
    stride = stride + indices[d].step * strides[d];
  }
  return place;
}

class SizedModule : private FittedModule {
 public:
  using FittedModule::FittedModule;

  Result<OptimizedModel> build() {
    TFAOT_TRY(read());
    want_outputs();
    TFAOT_TRY(begin());
    TFAOT_TRY(take_all(*first_module().entry_computation()));
    return ended();
  }

 private:
  void want_outputs() {
    const HloInstruction& root = *first_module().entry_computation()->root_instruction();
    std::int64_t place = 0;
    for (const xla::Shape& output : options().outputs) {
      const HloInstruction* one = root.operand(place++);
      while (xla::HloPredicateIsOp<kReshape, kBitcast, kCopy>(one)) one = one->operand(0);
      wanted_[one] = product(output.dimensions());
    }
  }

  // The parameters, and the numbers of the sizes.
  Status begin() {
    xla::HloModule& module = first_module();
    xla::HloComputation::Builder builder("sized");
    const xla::HloComputation& entry = *module.entry_computation();
    const auto inputs = std::ssize(samples().front().model->inputs);
    HloInstruction* first = nullptr;
    for (const HloInstruction* one : entry.parameter_instructions()) {
      TFAOT_ASSIGN(const Sizes sizes, sizes_of(*one));
      const bool is_input = one->parameter_number() < inputs;
      if (is_input) parameter_sizes_.push_back(sizes);
      const bool is_flat = is_input && !are_fixed(sizes);
      xla::Shape shape =
          is_flat ? flat_shape(type_of(*one), sizes, options().widest) : one->shape();
      if (!is_input && !are_fixed(sizes)) {
        TFAOT_ASSIGN(shape, whole_weight(*one));
      }
      first = builder.AddInstruction(
          HloInstruction::CreateParameter(one->parameter_number(), shape, one->name()));
      made_[one] = {first, is_flat};
    }
    HloInstruction* const sizes = builder.AddInstruction(HloInstruction::CreateParameter(
        entry.num_parameters(), shape_of(xla::S64, {std::ssize(largest())}), "sizes"));
    computation_ = module.AddEmbeddedComputation(builder.Build());
    numbers_.emplace(sizes);
    anchor_ = sizes;
    for (const HloInstruction* one : entry.parameter_instructions()) {
      TFAOT_ASSIGN(const Sizes own, sizes_of(*one));
      if (one->parameter_number() < inputs) continue;
      if (are_fixed(own)) {
        TFAOT_TRY(check_weight(*one));
        continue;
      }
      made_[one].value = start_of(*one, own, made_.at(one).value);
      made_[one].is_flat = true;
    }
    return {};
  }

  Result<OptimizedModel> ended() {
    xla::HloModule& module = first_module();
    const HloInstruction& root = *module.entry_computation()->root_instruction();
    TFAOT_ASSIGN(const Instructions outputs, values_of(root.operands()));
    std::vector<Sizes> output_sizes;
    for (const HloInstruction* output : root.operands()) {
      TFAOT_ASSIGN(output_sizes.emplace_back(), sizes_of(*output));
    }
    computation_->set_root_instruction(tuple_of(outputs), /*accept_different_shape=*/true);
    module.ReplaceEntryComputation(computation_);
    TFAOT_TRY(checked(module.RemoveUnusedComputations()));
    module.mutable_config().SetDefaultComputationLayout(computation_->ComputeProgramShape());
    const OptimizedModel& first = *samples().front().model;
    OptimizedModel model{.inputs = sized(first.inputs, parameter_sizes_),
                         .outputs = sized(first.outputs, output_sizes),
                         .weights = first.weights,
                         .xla_products = first.xla_products,
                         .remarks = first.remarks,
                         .has_live_rows = first.has_live_rows,
                         .has_tasks = first.has_tasks,
                         .has_sizes = true};
    for (const auto& [place, weight] : weights_of_) model.weights.at(place) = weight;
    TFAOT_ASSIGN(model.computation,
                 canonical(xla::XlaComputation(module.ToProto()), options().traces));
    model.shape = xla::ProgramShape(model.computation.proto().host_program_shape());
    return model;
  }

  // The tensors with the formulas of their rows' sizes.
  std::vector<TensorSpec> sized(std::vector<TensorSpec> tensors,
                                const std::vector<Sizes>& all) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (are_fixed(all[i])) continue;
      tensors[i].row_shape.clear();
      for (std::size_t d = 1; d < all[i].size(); ++d) {
        tensors[i].row_shape.push_back(most(all[i][d], largest()));
        tensors[i].free_shape.push_back(all[i][d].formula());
      }
    }
    return tensors;
  }

  // Whole rows, which a loop may compute several of at once.
  xla::Shape flat_shape(xla::PrimitiveType type, const Sizes& sizes, const Dimensions& largest,
                        std::int64_t wanted = 0) const {
    std::int64_t row = 1;
    for (std::size_t d = sizes.size(); d-- > 0 && sizes[d].constant();) {
      const std::int64_t longer = row * std::max<std::int64_t>(*sizes[d].constant(), 1);
      if (longer > kBlockElements) break;
      row = longer;
    }
    const auto count =
        std::reduce(sizes.begin(), sizes.end(), SizePolynomial(1), std::multiplies());
    const std::int64_t elements = xla::RoundUpTo(most(count, largest) + kBlockElements, row);
    return shape_of(type, {wanted >= elements && wanted % row == 0 ? wanted : elements});
  }

  struct Made {
    HloInstruction* value = nullptr;
    bool is_flat = false;  // a vector of the most elements
  };

  // A vector whose first elements are a tensor of fixed size.
  static HloInstruction* unflattened(HloInstruction* flat, const xla::Shape& shape) {
    return reshape(slice(flat, {0}, {product(shape.dimensions())}), shape.dimensions());
  }

  // Instructions that are computed where they are used, or by a loop.
  bool is_of_loops(const HloInstruction& one) {
    if (one.shape().IsTuple() || one.opcode() == kGetTupleElement || one.opcode() == kConstant) {
      return false;
    }
    if (xla::HloPredicateIsOp<kCustomCall, kParameter, kConditional>(&one)) return false;
    return !is_fixed(one);
  }

  Status take_all(const xla::HloComputation& computation) {
    for (HloInstruction* one : computation.MakeInstructionPostOrder()) {
      if (one->opcode() == kParameter || is_of_loops(*one)) continue;
      TFAOT_TRY(take(*one));
    }
    return {};
  }

  Status take(HloInstruction& one) {
    if (&one == first_module().entry_computation()->root_instruction()) return {};
    if (one.opcode() == kConstant) return take_constant(one);
    if (one.opcode() == kTuple) {
      TFAOT_ASSIGN(const Instructions parts, values_of(one.operands()));
      return put(one, computation_->AddInstruction(HloInstruction::CreateTuple(parts)));
    }
    if (one.opcode() == kWhile && !is_same_at_all(one)) return take_while(one);
    if (one.opcode() == kConditional && !is_same_at_all(one)) return take_conditional(one);
    if (one.opcode() == kGetTupleElement) {
      TFAOT_ASSIGN(const Sizes sizes, sizes_of(one));
      TFAOT_ASSIGN(const Made from, value_of(*one.operand(0)));
      return put(one, element_of(from.value, one.tuple_index()), !are_fixed(sizes));
    }
    if (is_kernel_call(one)) return take_call(one);
    if (one.shape().IsTuple() && !has_fixed_operands(one)) {
      if (one.opcode() == kReduce) return take_reduce(one);
      if (one.opcode() == kSort) {
        TFAOT_ASSIGN(const Instructions results, sorted(one));
        return put(one, tuple_of(results));
      }
    }
    Instructions operands;
    for (const HloInstruction* operand : one.operands()) {
      TFAOT_ASSIGN(const Made made, value_of(*operand));
      const bool has_flat =
          made.is_flat || (operand->shape().IsTuple() &&
                           !xla::ShapeUtil::Compatible(made.value->shape(), operand->shape()));
      if (has_flat) {
        return fail(no_free_size(one, "reads a tensor of a free size as a whole"));
      }
      operands.push_back(made.value);
    }
    return put(one, computation_->AddInstruction(one.CloneWithNewOperands(one.shape(), operands)));
  }

  Status put(const HloInstruction& one, HloInstruction* value, bool is_flat = false) {
    made_[&one] = {value, is_flat};
    return {};
  }

  // A loop's state has the sizes, too, as its last part.
  Status take_while(const HloInstruction& one) {
    TFAOT_ASSIGN(Instructions state, parts_of(*one.operand(0)));
    const HloInstruction& next = *one.while_body()->root_instruction();
    TFAOT_ASSIGN(std::vector<xla::Shape> shapes, made_shapes(one));
    for (std::size_t i = 0; i < state.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const bool stays = next.opcode() == kTuple &&
                         xla::Match(next.operand(at), m::GetTupleElement(m::Parameter(0), at));
      if (stays) {
        shapes[i] = state[i]->shape();
      } else {
        state[i] = with_length(state[i], shapes[i]);
      }
    }
    state.push_back(anchor_);
    HloInstruction* const all = tuple_of(state);
    TFAOT_ASSIGN(auto* const condition, called(*one.while_condition(), all->shape(), {}, false));
    TFAOT_ASSIGN(auto* const body, called(*one.while_body(), all->shape(), shapes, true));
    HloInstruction* const made =
        add_next_to(all, HloInstruction::CreateWhile(all->shape(), condition, body, all));
    made->set_metadata(one.metadata());
    return put(one, made);
  }

  Status take_conditional(const HloInstruction& one) {
    TFAOT_ASSIGN(const Made choice, value_of(*one.operand(0)));
    TFAOT_ASSIGN(const std::vector<xla::Shape> results, made_shapes(one));
    Instructions states;
    std::vector<xla::HloComputation*> branches;
    for (std::int64_t i = 0; i < one.branch_count(); ++i) {
      TFAOT_ASSIGN(Instructions state, parts_of(*one.operand(i + 1)));
      state.push_back(anchor_);
      states.push_back(tuple_of(state));
      TFAOT_ASSIGN(auto* const branch, called(*one.branch_computation(static_cast<int>(i)),
                                              states.back()->shape(), results, false));
      branches.push_back(branch);
    }
    HloInstruction* const made =
        add_next_to(choice.value,
                    HloInstruction::CreateConditional(branches.front()->root_instruction()->shape(),
                                                      choice.value, branches, states));
    made->set_metadata(one.metadata());
    if (one.shape().IsTuple()) return put(one, made);
    return put(one, element_of(made, 0), !is_fixed_value(one));
  }

  // What a tuple consists of as it is made; of one tensor, that.
  Result<Instructions> parts_of(const HloInstruction& one) {
    TFAOT_ASSIGN(const Made made, value_of(one));
    if (!one.shape().IsTuple()) return Instructions{made.value};
    Instructions parts;
    for (int i = 0; i < one.shape().tuple_shapes_size(); ++i) {
      parts.push_back(made.value->opcode() == kTuple ? made.value->mutable_operand(i)
                                                     : element_of(made.value, i));
    }
    return parts;
  }

  // The shapes of the results of a loop or a branch: of free sizes, those of vectors.
  Result<std::vector<xla::Shape>> made_shapes(const HloInstruction& one) {
    std::vector<xla::Shape> shapes;
    for (const xla::Shape& part : part_shapes(one)) {
      if (!part.IsArray()) return fail(no_free_size(one, "has a tuple in its state"));
      TFAOT_ASSIGN(const Sizes sizes, sizes_of(one, shapes.size()));
      shapes.push_back(are_fixed(sizes) ? part : flat_shape(part.element_type(), sizes, largest()));
    }
    return shapes;
  }

  // What a loop or a branch calls, as a function of a tuple of this shape, whose last part are the
  // sizes. `results`: the shapes that it makes; empty: its one result stays as it is.
  Result<xla::HloComputation*> called(const xla::HloComputation& source, const xla::Shape& state,
                                      const std::vector<xla::Shape>& results, bool returns_sizes) {
    xla::HloComputation::Builder builder(source.name());
    HloInstruction* const all =
        builder.AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
    Called outside{first_module().AddEmbeddedComputation(builder.Build()),
                   element_of(all, state.tuple_shapes_size() - 1)};
    outside.numbers.emplace(outside.sizes);
    const HloInstruction& parameter = *source.parameter_instruction(0);
    outside.made[&parameter] = parameter.shape().IsTuple()
                                   ? Made{all, false}
                                   : Made{element_of(all, 0), !is_fixed_value(parameter)};
    exchange(outside);
    const Status done = make_called(source, results, returns_sizes);
    exchange(outside);
    TFAOT_TRY(done);
    return outside.computation;
  }

  Status make_called(const xla::HloComputation& source, const std::vector<xla::Shape>& results,
                     bool returns_sizes) {
    TFAOT_TRY(take_all(source));
    TFAOT_ASSIGN(Instructions parts, parts_of(*source.root_instruction()));
    for (std::size_t i = 0; i < results.size(); ++i) parts[i] = with_length(parts[i], results[i]);
    if (returns_sizes) parts.push_back(anchor_);
    computation_->set_root_instruction(results.empty() ? parts.front() : tuple_of(parts),
                                       /*accept_different_shape=*/true);
    return {};
  }

  // The computation that is made while another one waits.
  struct Called {
    xla::HloComputation* computation;
    HloInstruction* sizes;
    std::optional<SizeNumbers> numbers{};
    std::map<const HloInstruction*, Made> made{};
  };
  void exchange(Called& other) {
    std::swap(computation_, other.computation);
    std::swap(anchor_, other.sizes);
    std::swap(numbers_, other.numbers);
    std::swap(made_, other.made);
  }

  // A vector of another length with the elements of the actual size. Those of inputs may be longer.
  HloInstruction* with_length(HloInstruction* x, const xla::Shape& shape) {
    if (xla::ShapeUtil::Compatible(x->shape(), shape)) return x;
    const std::int64_t elements = product(shape.dimensions());
    if (elements < elements_of(*x)) return slice(x, {0}, {elements});
    return add_next_to(x, HloInstruction::CreateDynamicUpdateSlice(
                              shape, unwritten_next_to(anchor_, shape, ++unwritten_, *x), x,
                              {number_next_to(x, 0)}));
  }

  // Of several tensors at once, such as the largest number and its place.
  Status take_reduce(const HloInstruction& one) {
    TFAOT_ASSIGN(const Sizes sizes, sizes_of(one, 0));
    const std::int64_t count = one.operand_count() / 2;
    Instructions results;
    for (std::int64_t i = 0; i < count; ++i) {
      const HloInstruction& start = *one.operand(count + i);
      TFAOT_ASSIGN(HloInstruction* const result, filled(start, {}, sizes, unwritten(start, sizes)));
      results.push_back(result);
    }
    TFAOT_ASSIGN(StridedLoop loop, loop_over_terms(one, sizes));
    loop.combine_all = one.to_apply();
    std::vector<std::size_t> values;
    for (std::int64_t i = 0; i < count; ++i) {
      TFAOT_ASSIGN(const std::size_t value,
                   add_value(*one.operand(i), terms_in(one, loop.sizes.size()), loop));
      values.push_back(value);
    }
    // The last values, in order.
    for (std::int64_t i = 0; i < count; ++i) {
      HloInstruction* const like = scalar_next_to(anchor_, type_of(*one.operand(i)), 0);
      added({.operation = unary(kCopy, like), .operands = {engine::entry(values, i)}}, loop);
    }
    results = add_loop(loop, results, *numbers_);
    const bool is_flat = !are_fixed(sizes);
    for (std::int64_t i = 0; i < count && !is_flat; ++i) {
      HloInstruction*& result = engine::entry(results, i);
      result = unflattened(result, one.shape().tuple_shapes(static_cast<int>(i)));
    }
    return put(one, tuple_of(results));
  }

  // Sorts tensors of the largest sizes, in which what is beyond the actual sizes comes last.
  Result<Instructions> sorted(const HloInstruction& one) {
    TFAOT_ASSIGN(const Sizes sizes, sizes_of(*one.operand(0)));
    const std::int64_t dimension = one.dimensions(0);
    const Dimensions whole = mapped(sizes, [&](const auto& size) { return most(size, largest()); });
    const Sizes fixed(whole.begin(), whole.end());
    Instructions operands;
    std::vector<xla::Shape> shapes;
    for (const HloInstruction* operand : one.operands()) {
      TFAOT_ASSIGN(HloInstruction* const vector,
                   filled(*operand, own_indices(sizes.size()), sizes, unwritten(*operand, fixed),
                          row_major_strides(fixed)));
      shapes.push_back(shape_of(type_of(*operand), whole));
      operands.push_back(unflattened(vector, shapes.back()));
    }
    HloInstruction* is_beyond = nullptr;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const auto at = static_cast<std::int64_t>(d);
      HloInstruction* const size = broadcast(numbers_->scalar(sizes[d]), whole, {});
      HloInstruction* const places = iota_next_to(anchor_, shape_of(xla::S64, whole), at);
      is_beyond = accumulate(kOr, is_beyond, compare(places, xla::ComparisonDirection::kGe, size));
    }
    operands.push_back(is_beyond);
    shapes.push_back(operands.back()->shape());
    HloInstruction* const made = computation_->AddInstruction(HloInstruction::CreateSort(
        xla::ShapeUtil::MakeTupleShape(shapes), dimension, operands, less_within(one),
        xla::Cast<xla::HloSortInstruction>(&one)->is_stable()));
    Instructions results;
    for (std::int64_t i = 0; i < one.operand_count(); ++i) {
      results.push_back(start_of(*one.operand(i), sizes, element_of(made, i)));
    }
    return results;
  }

  // The order of a sort, of elements that are followed by whether they are beyond the actual sizes.
  xla::HloComputation* less_within(const HloInstruction& sort) {
    xla::HloComputation::Builder builder("less_within");
    Instructions elements;
    for (const HloInstruction* one : sort.to_apply()->parameter_instructions()) {
      elements.push_back(builder.AddInstruction(
          HloInstruction::CreateParameter(one->parameter_number(), one->shape(), one->name())));
    }
    const xla::Shape truth = shape_of(xla::PRED, {});
    const auto beyond = [&](std::int64_t which) {
      return builder.AddInstruction(HloInstruction::CreateParameter(
          std::ssize(elements) + which, truth, fmt::format("beyond_{}", which)));
    };
    HloInstruction* const first = beyond(0);
    HloInstruction* const second = beyond(1);
    const auto add = [&](HloInstruction* a, xla::HloOpcode operation, HloInstruction* b) {
      return builder.AddInstruction(HloInstruction::CreateBinary(truth, operation, a, b));
    };
    HloInstruction* const less =
        builder.AddInstruction(HloInstruction::CreateCall(truth, elements, sort.to_apply()));
    HloInstruction* const is_within =
        builder.AddInstruction(HloInstruction::CreateUnary(truth, kNot, first));
    add(is_within, kAnd, add(second, kOr, less));
    return first_module().AddEmbeddedComputation(builder.Build());
  }

  Status take_constant(const HloInstruction& one) {
    std::vector<const xla::Literal*> literals;
    for (std::size_t i = 0; i < samples().size(); ++i) {
      literals.push_back(&at_sample(one, i).literal());
    }
    const auto is_first = [&](const xla::Literal* other) { return *other == one.literal(); };
    if (std::ranges::all_of(literals, is_first)) {
      return put(one, computation_->AddInstruction(one.Clone()));
    }
    TFAOT_ASSIGN(const Sizes sizes, sizes_of(one));
    const bool is_flat = !are_fixed(sizes);
    Result<HloInstruction*> value = is_flat ? table_by_rules({literals, fits()}, one, sizes)  //
                                            : sized_constant(one);
    const bool are_words = !is_flat && xla::primitive_util::IsIntegralType(type_of(one));
    if (!value && options().has_all && !are_words) value = looked_up(one, literals, sizes);
    if (!value) return fail(value.error());
    return put(one, *value, is_flat);
  }

  // The part for the size of a table with the constant at all sizes.
  Result<HloInstruction*> looked_up(const HloInstruction& one,
                                    const std::vector<const xla::Literal*>& literals,
                                    const Sizes& sizes) {
    constexpr std::int64_t kMostElements = std::int64_t{1} << 18;
    const bool is_flat = !are_fixed(sizes);
    const xla::Shape shape = is_flat ? flat_shape(type_of(one), sizes, largest())
                                     : shape_of(type_of(one), {elements_of(one)});
    std::int64_t most = 0;
    for (const xla::Literal* literal : literals) most = std::max(most, literal->element_count());
    // Beyond the elements of a size are those of the next one.
    const xla::Shape all =
        shape_of(type_of(one), {most * std::ssize(literals) + product(shape.dimensions())});
    if (product(all.dimensions()) > kMostElements) {
      return fail(no_free_size(one, "reads a constant of many elements at each size"));
    }
    xla::Literal table = xla::Literal::CreateFromShape(all);
    SizeValues starts;
    for (std::int64_t i = 0; i < std::ssize(literals); ++i) {
      starts.emplace_back(most * (std::ssize(literals) - 1 - i));
      const xla::Literal& literal = *literals[static_cast<std::size_t>(i)];
      TFAOT_ASSIGN(const xla::Literal flat,
                   or_internal(literal.Reshape({literal.element_count()})));
      TFAOT_TRY(
          checked(table.CopySliceFrom(flat, {0}, {*starts.back()}, {literal.element_count()})));
    }
    HloInstruction* const start = numbers_->scalar(*fits().through(starts));
    HloInstruction* const part = computation_->AddInstruction(HloInstruction::CreateDynamicSlice(
        shape, computation_->AddInstruction(HloInstruction::CreateConstant(std::move(table))),
        {start}, shape.dimensions()));
    return is_flat ? part : reshape(part, one.shape().dimensions());
  }

  // It must be the same at all sizes.
  Status check_weight(const HloInstruction& one) const {
    const OptimizedModel& first = *samples().front().model;
    const auto place = static_cast<std::size_t>(one.parameter_number()) - first.inputs.size();
    if (place >= first.weights.size()) return {};  // the number of live rows
    for (const SizeSample& sample : samples()) {
      if (sample.model->weights.at(place) == first.weights[place]) continue;
      return fail(no_free_size(one, "reads a weight that is computed from the size"));
    }
    return {};
  }

  // A weight that follows a size must be the start of a whole one at all sizes: of a weight of the
  // model, such as that of learned positions, or of what is computed from weights at the first
  // sample's sizes. The parameter becomes the whole weight.
  Result<xla::Shape> whole_weight(const HloInstruction& one) {
    const auto place =
        static_cast<std::size_t>(one.parameter_number()) - samples().front().model->inputs.size();
    const std::size_t first = samples().front().model->weights.at(place);
    const auto& variables = options().weights.origin(first).variables;
    if (variables.size() == 1) {
      if (const auto raw = options().weights.raw_named(variables.front())) {
        const xla::Shape shape =
            with_ones(shape_of(type_of(one), options().weights.entry(*raw).shape), one.shape());
        TFAOT_ASSIGN(const bool is_it, has_starts(one, place, *raw, shape));
        if (is_it) {
          weights_of_[place] = *raw;
          return shape;
        }
      }
    }
    TFAOT_ASSIGN(const Sizes sizes, sizes_of(one));
    bool is_it = true;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      is_it = is_it && most(sizes[d], largest()) <= size_of(one, static_cast<std::int64_t>(d));
    }
    if (is_it) {
      TFAOT_ASSIGN(is_it, has_starts(one, place, first, one.shape()));
    }
    if (is_it) return one.shape();
    return fail(no_free_size(one, "reads a weight that is not the start of one for all sizes"));
  }

  // Whether a weight at all samples is the start of this one, of this shape.
  Result<bool> has_starts(const HloInstruction& one, std::size_t place, std::size_t weight,
                          const xla::Shape& shape) {
    TFAOT_ASSIGN(const std::string whole, options().weights.bytes(weight));
    const auto size =
        static_cast<std::size_t>(xla::ShapeUtil::ByteSizeOfPrimitiveType(type_of(one)));
    const auto place_of = [&](const xla::Shape& of, absl::Span<const std::int64_t> index) {
      return static_cast<std::size_t>(
                 xla::IndexUtil::MultidimensionalIndexToLinearIndex(of, index)) *
             size;
    };
    for (std::size_t i = 0; i < samples().size(); ++i) {
      TFAOT_ASSIGN(const std::string bytes,
                   options().weights.bytes(samples()[i].model->weights.at(place)));
      const xla::Shape& part = at_sample(one, i).shape();
      bool is_same =
          shape.rank() == part.rank() &&
          std::ranges::equal(part.dimensions(), shape.dimensions(), std::ranges::less_equal());
      if (is_same) {
        xla::ShapeUtil::ForEachIndex(part, [&](absl::Span<const std::int64_t> index) {
          is_same =
              bytes.compare(place_of(part, index), size, whole, place_of(shape, index), size) == 0;
          return is_same;
        });
      }
      if (!is_same) return false;
    }
    return true;
  }

  // With dimensions of 1 where `like` has them.
  static xla::Shape with_ones(const xla::Shape& shape, const xla::Shape& like) {
    Dimensions others;
    for (const std::int64_t size : shape.dimensions()) {
      if (size != 1) others.push_back(size);
    }
    Dimensions sizes;
    std::size_t next = 0;
    for (const std::int64_t size : like.dimensions()) {
      sizes.push_back(size == 1 || next == others.size() ? 1 : others[next++]);
    }
    return shape_of(shape.element_type(), sizes);
  }

  // The start of a tensor of fixed sizes as it lies at the actual sizes.
  HloInstruction* start_of(const HloInstruction& one, const Sizes& sizes, HloInstruction* whole) {
    HloInstruction* const result = unwritten(one, sizes);
    StridedLoop loop{.sizes = sizes};
    const LoopIndices indices = own_indices(sizes.size());
    added({.tensor = reshape(whole, {elements_of(*whole)}),
           .place = place_of(indices, row_major_strides(whole->shape()), sizes.size()),
           .is_whole = true},
          loop);
    loop.place = place_of(indices, row_major_strides(sizes), sizes.size());
    return add_loop(loop, result, *numbers_);
  }

  // A constant tensor that follows the sizes, such as the places of all pairs in a matrix. Elements
  // that count from the end of a dimension are written over what lies there.
  Result<HloInstruction*> table_by_rules(SizedTable table, const HloInstruction& one,
                                         const Sizes& sizes) {
    HloInstruction* result = unwritten(one, sizes);
    for (std::size_t ends = 0; ends < std::size_t{1} << sizes.size(); ++ends) {
      std::vector<bool> is_end;
      bool is_part = true;
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        is_end.push_back((ends >> d & 1) != 0);
        is_part = is_part && (!is_end[d] || table.at_end()[d] > 0);
      }
      if (!is_part) continue;
      TFAOT_ASSIGN(result, with_part_of(table, is_end, one, sizes, result));
    }
    return result;
  }

  // Those elements of the table that are at the end of these dimensions.
  Result<HloInstruction*> with_part_of(SizedTable& table, const std::vector<bool>& is_end,
                                       const HloInstruction& one, const Sizes& sizes,
                                       HloInstruction* result) {
    xla::Shape shape = one.shape();
    StridedLoop loop{.sizes = sizes};
    const LoopIndices indices = own_indices(sizes.size());
    LoopIndices in_result = indices;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (!is_end[d]) continue;
      loop.keeps_others = true;
      loop.sizes[d] = table.at_end()[d];
      in_result[d].offset = sizes[d] + SizePolynomial(-table.at_end()[d]);
      shape.set_dimensions(static_cast<int>(d), table.at_end()[d]);
    }
    std::vector<SizePolynomial> wholes;
    xla::Literal same = xla::Literal::CreateFromShape(shape);
    Status done;
    xla::ShapeUtil::ForEachIndex(shape, [&](absl::Span<const std::int64_t> index) {
      Dimensions at(index.begin(), index.end());
      for (std::size_t d = 0; d < at.size(); ++d) at[d] -= is_end[d] ? table.at_end()[d] : 0;
      const auto element = table.element(at);
      if (!element || (!element->is_same && element->inverse)) {
        done = fail(
            no_free_size(one, "reads a constant whose numbers are no polynomials of the sizes"));
        return false;
      }
      if (element->is_same) same.CopyElementFrom(table.first(), table.index_in_first(at), index);
      wholes.push_back(element->whole);
      return true;
    });
    TFAOT_TRY(std::move(done));
    add_table(std::move(same), wholes, place_of(indices, row_major_strides(shape), sizes.size()),
              loop);
    loop.place = place_of(in_result, row_major_strides(sizes), sizes.size());
    return add_loop(loop, result, *numbers_);
  }

  // Adds the sum of a constant's element and the polynomial for it.
  void add_table(xla::Literal constant, const std::vector<SizePolynomial>& wholes,
                 const Place& in_table, StridedLoop& loop) {
    HloInstruction* const whole =
        computation_->AddInstruction(HloInstruction::CreateConstant(std::move(constant)));
    const std::size_t sum = added(
        {.tensor = reshape(whole, {elements_of(*whole)}), .place = in_table, .is_whole = true},
        loop);
    std::int64_t divisor = 1;
    for (const SizePolynomial& one : wholes) divisor = std::lcm(divisor, one.divisor());
    std::map<SizePolynomial::Powers, std::vector<std::int64_t>> columns;
    for (std::size_t i = 0; i < wholes.size(); ++i) {
      for (const auto& [powers, factor] : wholes[i].terms()) {
        auto& column = columns.try_emplace(powers, wholes.size(), 0).first->second;
        column[i] = factor * (divisor / wholes[i].divisor());
      }
    }
    HloInstruction* const like = scalar_next_to(anchor_, xla::S64, 0);
    std::optional<std::size_t> terms;
    for (const auto& [powers, column] : columns) {
      std::size_t term = added(
          {.tensor = words_next_to(anchor_, column), .place = in_table, .is_whole = true}, loop);
      if (!powers.empty()) {
        term = added({.operation = binary(kMultiply, like, like),
                      .operands = {term, add_scalar(numbers_->product(powers), loop)}},
                     loop);
      }
      terms =
          !terms ? term
                 : added({.operation = binary(kAdd, like, like), .operands = {*terms, term}}, loop);
    }
    if (!terms) return;
    if (divisor > 1) {
      const std::size_t by = add_scalar(number_next_to(anchor_, divisor), loop);
      terms = added({.operation = binary(kDivide, like, like), .operands = {*terms, by}}, loop);
    }
    HloInstruction* const converted = convert(like, type_of(*whole));
    terms = added({.operation = converted, .operands = {*terms}}, loop);
    added({.operation = binary(kAdd, converted, converted), .operands = {sum, *terms}}, loop);
  }

  // The same in all turns.
  static std::size_t add_scalar(HloInstruction* scalar, StridedLoop& loop) {
    return added({.tensor = reshape(scalar, {1}), .place = {0, Sizes(loop.sizes.size(), 0)}}, loop);
  }

  // Words of a call, or other whole numbers, or a real one.
  Result<HloInstruction*> sized_constant(const HloInstruction& one) {
    const bool is_whole = xla::primitive_util::IsIntegralType(type_of(one));
    if (is_whole) {
      TFAOT_ASSIGN(Sizes words,
                   numbers_of(one, elements_of(one), [](const HloInstruction& sample, int i) {
                     const auto index =
                         xla::IndexUtil::LinearIndexToMultidimensionalIndex(sample.shape(), i);
                     return sample.literal().GetIntegralAsS64(index).value_or(0);
                   }));
      HloInstruction* const value = one.shape().rank() == 0
                                        ? numbers_->scalar(words.front())
                                        : reshape(numbers_->words(words), dimensions_of(one));
      words_[&one] = std::move(words);
      return type_of(one) == xla::S64 ? value : convert(value, type_of(one));
    }
    if (elements_of(one) != 1 || !has_kernels(type_of(one))) {
      return fail(
          no_free_size(one, "reads a constant whose numbers are no polynomials of the sizes"));
    }
    TFAOT_ASSIGN(HloInstruction* const number, sized_real(one));
    return reshape(number, dimensions_of(one));
  }

  // A whole number or its inverse, rounded.
  Result<HloInstruction*> sized_real(const HloInstruction& one) {
    const Dimensions first(static_cast<std::size_t>(one.shape().rank()), 0);
    const auto real = [&](const HloInstruction& sample) {
      return sample.literal().GetAsDouble(first).value_or(0);
    };
    const bool inverse = is_inverse(real(one));
    std::vector<double> reals;
    SizeValues wholes;
    for (std::size_t i = 0; i < samples().size(); ++i) {
      reals.push_back(real(at_sample(one, i)));
      wholes.emplace_back(whole_of(reals.back(), inverse));
    }
    const auto whole = fits().through(wholes);
    for (std::size_t i = 0; i < reals.size(); ++i) {
      if (!whole || !rounds_to(reals[i], whole->at(fits().points()[i]), inverse, type_of(one))) {
        return fail(no_rule(one, reals));
      }
    }
    HloInstruction* value = convert(numbers_->scalar(*whole), xla::F64);
    if (inverse) value = binary(kDivide, scalar_next_to(value, xla::F64, 1), value);
    return convert(value, type_of(one));
  }

  Status take_call(const HloInstruction& one) {
    TFAOT_ASSIGN(const Instructions operands, values_of(one.operands()));
    const bool is_tuple = one.shape().IsTuple();
    std::vector<xla::Shape> shapes;
    bool is_flat = false;
    for (const xla::Shape& part : part_shapes(one)) {
      const std::size_t i = shapes.size();
      // Bytes behind the result are scratch; further ones align temporaries.
      if (i > 0 && part.element_type() == xla::U8) {
        const bool is_first = i == 1 || shapes.back().element_type() != xla::U8;
        shapes.push_back(is_first ? shape_of(xla::U8, {most_scratch(one, i)}) : part);
        continue;
      }
      TFAOT_ASSIGN(const Sizes sizes, sizes_of(one, i));
      is_flat = !are_fixed(sizes);
      std::int64_t wanted = 0;
      for (const auto& [output, elements] : wanted_) {
        const bool is_part = is_tuple ? output->opcode() == kGetTupleElement &&
                                            output->operand(0) == &one &&
                                            output->tuple_index() == static_cast<std::int64_t>(i)
                                      : output == &one;
        if (is_part) wanted = elements;
      }
      shapes.push_back(is_flat ? flat_shape(part.element_type(), sizes, largest(), wanted) : part);
    }
    const auto shape = is_tuple ? xla::ShapeUtil::MakeTupleShape(shapes) : shapes.front();
    return put(one, call_again(one, shape, operands), !is_tuple && is_flat);
  }

  // The bytes of a call's scratch memory at any sizes: of this result.
  std::int64_t most_scratch(const HloInstruction& call, std::size_t result) {
    if (const auto most = most_tried_scratch(call)) return *most;
    std::int64_t most = 0;
    for (std::size_t s = 0; s < samples().size(); ++s) {
      const std::int64_t own = product(part_shapes(at_sample(call, s))[result].dimensions());
      most = std::max(most, scratch_at_largest(own, fits().points()[s]));
    }
    return most;
  }

  // The most at any of the sizes that the call's words follow: as kernels take rows in blocks, it
  // may be larger at smaller sizes. Nothing if these are too many, or the words are not known.
  std::optional<std::int64_t> most_tried_scratch(const HloInstruction& call) const {
    constexpr std::int64_t kMostTried = 1 << 15;
    const auto words = words_.find(call.operand(0));
    if (words == words_.end()) return std::nullopt;
    // How many sizes there are, where its words follow them.
    Dimensions counts(largest().size(), 1);
    for (const SizePolynomial& word : words->second) {
      for (const auto& [powers, factor] : word.terms()) {
        for (std::size_t i = 0; i < powers.size(); ++i) {
          const std::size_t d = i / SizePolynomial::kVariables;
          if (powers[i] != 0) counts[d] = largest()[d] - options().smallest[d] + 1;
        }
      }
    }
    const std::int64_t count = product(counts);
    if (count > kMostTried) return std::nullopt;
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      Dimensions sizes = largest();  // and smaller ones
      for (std::int64_t rest = i, d = 0; d < std::ssize(sizes); ++d) {
        entry(sizes, d) -= rest % entry(counts, d);
        rest /= entry(counts, d);
      }
      const auto tried = mapped(words->second, [&](const auto& word) { return word.at(sizes); });
      most = std::max(
          most, scratch_bytes_of(*called_kernel(call), tried, element_bytes(*call.operand(1))));
    }
    return xla::RoundUpTo(most, kLineBytes);
  }

  // A bound where there are too many sizes to try, given the bytes at those of a sample. Where
  // these are not the largest, it grows by no more than their third power, and blocks of rows are
  // at most twice as large.
  std::int64_t scratch_at_largest(std::int64_t bytes, const Dimensions& sizes) const {
    constexpr double kMostAtSmallerSizes = 2;
    double most = kMostAtSmallerSizes * static_cast<double>(bytes);
    for (std::size_t d = 0; d < largest().size(); ++d) {
      const double larger = static_cast<double>(largest()[d]) /
                            static_cast<double>(std::max<std::int64_t>(sizes[d], 1));
      if (larger > 1) most *= larger * larger * larger;
    }
    return xla::RoundUpTo(static_cast<std::int64_t>(std::ceil(most)), kLineBytes);
  }

  // The value in memory. Computes it by a loop if it has none yet.
  Result<Made> value_of(const HloInstruction& one) {
    const auto known = made_.find(&one);
    if (known != made_.end()) return known->second;
    TFAOT_ASSIGN(const Sizes sizes, sizes_of(one));
    Made made;
    if (one.opcode() == kReshape || one.opcode() == kBitcast || one.opcode() == kCopy) {
      TFAOT_ASSIGN(made, value_of(*one.operand(0)));
      if (!made.is_flat) made.value = reshape(made.value, {elements_of(*one.operand(0))});
    } else {
      TFAOT_ASSIGN(made.value, looped(one, sizes));
    }
    made.is_flat = !are_fixed(sizes);
    if (!made.is_flat) made.value = unflattened(made.value, one.shape());
    return made_[&one] = made;
  }

  Result<Instructions> values_of(absl::Span<HloInstruction* const> all) {
    Instructions values;
    for (const HloInstruction* one : all) {
      TFAOT_ASSIGN(const Made made, value_of(*one));
      values.push_back(made.value);
    }
    return values;
  }

  // Where the windows of a dynamic slice begin in a tensor of these sizes: never so late that they
  // would end beyond it. `first`: the operand of the first dimension.
  Result<Instructions> window_starts(const HloInstruction& one, std::int64_t first,
                                     const Sizes& sizes, const Sizes& window) {
    Instructions starts;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      TFAOT_ASSIGN(const Made made, value_of(*one.operand(first + static_cast<std::int64_t>(d))));
      HloInstruction* const most = numbers_->scalar(sizes[d] + SizePolynomial(-1) * window[d]);
      starts.push_back(
          clamp(number_next_to(most, 0), convert(reshape(made.value, {}), xla::S64), most));
    }
    return starts;
  }

  // True if the elements of such a window lie one after another, and have a fixed number.
  static bool lies_together(const Sizes& window, const Sizes& sizes) {
    std::size_t first = 0;
    while (first < window.size() && window[first].constant() == 1) ++first;
    for (std::size_t d = first + 1; d < window.size(); ++d) {
      if (window[d] != sizes[d]) return false;
    }
    return are_fixed(window);
  }

  HloInstruction* window_place(const Instructions& starts, const Sizes& sizes) {
    HloInstruction* place = number_next_to(anchor_, 0);
    const Sizes strides = row_major_strides(sizes);
    for (std::size_t d = 0; d < starts.size(); ++d) {
      place = binary(kAdd, place, binary(kMultiply, starts[d], numbers_->scalar(strides[d])));
    }
    return place;
  }

  // As values of a loop.
  static std::vector<ValuePlace> window_places(const Instructions& starts, const Sizes& sizes,
                                               const Sizes& window, StridedLoop& loop) {
    std::vector<ValuePlace> places;
    const Sizes strides = row_major_strides(sizes);
    for (std::size_t d = 0; d < starts.size(); ++d) {
      places.push_back(
          {add_scalar(starts[d], loop), strides[d], sizes[d] + SizePolynomial(-1) * window[d]});
    }
    return places;
  }

  HloInstruction* vector_of(const Made& made) {
    return made.is_flat ? made.value : reshape(made.value, {elements_of(*made.value)});
  }

  // A window of a tensor, which begins where numbers say.
  Result<HloInstruction*> window_of(const HloInstruction& one, const Sizes& window) {
    TFAOT_ASSIGN(const Made whole, value_of(*one.operand(0)));
    TFAOT_ASSIGN(const Sizes sizes, sizes_of(*one.operand(0)));
    TFAOT_ASSIGN(const Instructions starts, window_starts(one, 1, sizes, window));
    if (lies_together(window, sizes)) {
      const std::int64_t count = elements_of(one);
      return add_next_to(anchor_, HloInstruction::CreateDynamicSlice(
                                      shape_of(type_of(one), {count}), vector_of(whole),
                                      {window_place(starts, sizes)}, {count}));
    }
    StridedLoop loop{.sizes = window};
    const LoopIndices own = own_indices(window.size());
    auto places = window_places(starts, sizes, window, loop);
    TFAOT_ASSIGN(const std::size_t element, add_element(*one.operand(0), own, loop));
    loop.values[element].value_places = std::move(places);
    loop.place = place_of(own, row_major_strides(window), window.size());
    return add_loop(loop, unwritten(one, window), *numbers_);
  }

  // A tensor with another window.
  Result<HloInstruction*> with_window(const HloInstruction& one, const Sizes& sizes) {
    TFAOT_ASSIGN(const Made whole, value_of(*one.operand(0)));
    TFAOT_ASSIGN(const Sizes window, sizes_of(*one.operand(1)));
    TFAOT_ASSIGN(const Instructions starts, window_starts(one, 2, sizes, window));
    HloInstruction* const old = vector_of(whole);
    if (lies_together(window, sizes)) {
      TFAOT_ASSIGN(const Made made, value_of(*one.operand(1)));
      return add_next_to(
          anchor_, HloInstruction::CreateDynamicUpdateSlice(old->shape(), old, vector_of(made),
                                                            {window_place(starts, sizes)}));
    }
    StridedLoop loop{.sizes = window};
    const LoopIndices own = own_indices(window.size());
    loop.value_places = window_places(starts, sizes, window, loop);
    TFAOT_TRY(add_value(*one.operand(1), own, loop));
    loop.place = place_of(own, row_major_strides(sizes), window.size());
    loop.keeps_others = true;
    return add_loop(loop, old, *numbers_);
  }

  HloInstruction* unwritten(const HloInstruction& one, const Sizes& sizes) {
    const auto wanted = wanted_.find(&one);
    const xla::Shape shape =
        flat_shape(type_of(one), sizes, largest(), wanted == wanted_.end() ? 0 : wanted->second);
    return unwritten_next_to(anchor_, shape, ++unwritten_, one);
  }

  Result<HloInstruction*> looped(const HloInstruction& one, const Sizes& sizes) {
    if (one.opcode() == kSort) {
      TFAOT_ASSIGN(const Instructions results, sorted(one));
      return results.front();
    }
    if (one.opcode() == kDynamicSlice) return window_of(one, sizes);
    if (one.opcode() == kDynamicUpdateSlice) return with_window(one, sizes);
    HloInstruction* const result = unwritten(one, sizes);
    if (one.opcode() == kConcatenate) return concatenated(one, sizes, result);
    if (one.opcode() == kPad) return padded(one, sizes, result);
    if (one.opcode() == kReduce) return reduced(one, sizes, result);
    if (one.opcode() == kReduceWindow) return reduced_windows(one, sizes, result);
    if (one.opcode() == kGather) return gathered(one, sizes, result);
    if (one.opcode() == kScatter) return scattered(one, sizes, result);
    return filled(one, own_indices(sizes.size()), sizes, result);
  }

  // The result with the value at these indices in all its elements.
  Result<HloInstruction*> filled(const HloInstruction& value, const LoopIndices& at,
                                 const Sizes& sizes, HloInstruction* result,
                                 const std::optional<Sizes>& strides = {}) {
    StridedLoop loop{.sizes = sizes};
    TFAOT_TRY(add_value(value, at, loop));
    loop.place = place_of(own_indices(sizes.size()), strides.value_or(row_major_strides(sizes)),
                          sizes.size());
    return add_loop(loop, result, *numbers_);
  }

  Result<HloInstruction*> concatenated(const HloInstruction& one, const Sizes& sizes,
                                       HloInstruction* result) {
    const auto dimension = static_cast<std::size_t>(one.concatenate_dimension());
    const Sizes strides = row_major_strides(sizes);
    SizePolynomial before = 0;
    const bool is_outermost =
        std::all_of(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(dimension),
                    [](const SizePolynomial& size) { return size.constant() == 1; });
    for (const HloInstruction* operand : one.operands()) {
      TFAOT_ASSIGN(const Sizes part, sizes_of(*operand));
      StridedLoop loop{.sizes = part, .keeps_others = !is_outermost};
      LoopIndices indices = own_indices(part.size());
      TFAOT_TRY(add_value(*operand, indices, loop));
      indices[dimension].offset = before;
      loop.place = place_of(indices, strides, part.size());
      result = add_loop(loop, result, *numbers_);
      before = before + part[dimension];
    }
    return result;
  }

  // What lies around a tensor and between its elements, as a pad and a window have it.
  struct Edges {
    Sizes low;
    Sizes high;
    Sizes steps;  // from an element to the next one
  };

  Result<HloInstruction*> padded(const HloInstruction& one, const Sizes& sizes,
                                 HloInstruction* result) {
    const auto edge = [&](auto member, std::int64_t more = 0) {
      return numbers_of(one, one.shape().rank(), [=](const HloInstruction& sample, int d) {
        return (sample.padding_config().dimensions(d).*member)() + more;
      });
    };
    using Padding = xla::PaddingConfig::PaddingConfigDimension;
    Edges edges;
    TFAOT_ASSIGN(edges.low, edge(&Padding::edge_padding_low));
    TFAOT_ASSIGN(edges.high, edge(&Padding::edge_padding_high));
    TFAOT_ASSIGN(edges.steps, edge(&Padding::interior_padding, 1));
    return padded_by(one, edges, sizes, result);
  }

  // The first operand with the second one at these edges.
  Result<HloInstruction*> padded_by(const HloInstruction& one, const Edges& edges,
                                    const Sizes& sizes, HloInstruction* result) {
    TFAOT_ASSIGN(result, filled(*one.operand(1), {}, sizes, result));
    const HloInstruction& x = *one.operand(0);
    TFAOT_ASSIGN(const Sizes part, sizes_of(x));
    StridedLoop loop{.sizes = part, .keeps_others = true};
    LoopIndices indices = own_indices(part.size());
    TFAOT_TRY(add_value(x, indices, loop));
    for (std::size_t d = 0; d < indices.size(); ++d) {
      for (const Dimensions& point : fits().points()) {
        if (edges.low[d].at(point) < 0 || edges.high[d].at(point) < 0) {
          return fail(no_free_size(one, "cuts the edges of a tensor"));
        }
      }
      indices[d].offset = edges.low[d];
      indices[d].step = edges.steps[d];
    }
    loop.place = place_of(indices, row_major_strides(sizes), part.size());
    return add_loop(loop, result, *numbers_);
  }

  Result<HloInstruction*> reduced(const HloInstruction& one, const Sizes& sizes,
                                  HloInstruction* result) {
    if (one.operand_count() != 2) return fail(no_free_size(one, "has several results or batches"));
    TFAOT_ASSIGN(const HloInstruction* const combine, combination(one));
    TFAOT_ASSIGN(result, filled(*one.operand(1), {}, sizes, result));
    TFAOT_ASSIGN(StridedLoop loop, loop_over_terms(one, sizes));
    loop.combine = combine;
    TFAOT_TRY(add_value(*one.operand(0), terms_in(one, loop.sizes.size()), loop));
    return add_loop(loop, result, *numbers_);
  }

  // The dimensions of a reduction's operand in the order of its loops. The last dimension of the
  // result comes last, as blocks are of it.
  static Dimensions order_of_terms(const HloInstruction& reduce) {
    const std::int64_t rank = reduce.operand(0)->shape().rank();
    Dimensions order = other_dimensions(rank, reduce.dimensions());
    order.insert(order.end() - (order.empty() ? 0 : 1), reduce.dimensions().begin(),
                 reduce.dimensions().end());
    return order;
  }

  static LoopIndices terms_in(const HloInstruction& reduce, std::size_t loops) {
    LoopIndices indices(loops);
    const Dimensions order = order_of_terms(reduce);
    for (std::size_t i = 0; i < loops; ++i) engine::entry(indices, order[i]).loop = i;
    return indices;
  }

  // `sizes`: of the result.
  Result<StridedLoop> loop_over_terms(const HloInstruction& reduce, const Sizes& sizes) {
    const HloInstruction& x = *reduce.operand(0);
    TFAOT_ASSIGN(const Sizes all, sizes_of(x));
    const Dimensions kept = other_dimensions(x.shape().rank(), reduce.dimensions());
    const Dimensions order = order_of_terms(reduce);
    StridedLoop loop;
    LoopIndices of_result(kept.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      loop.sizes.push_back(engine::entry(all, order[i]));
      const std::int64_t place = place_among(kept, order[i]);
      if (place >= 0) engine::entry(of_result, place).loop = i;
    }
    loop.place = place_of(of_result, row_major_strides(sizes), order.size());
    return loop;
  }

  // Combines the elements of each window. The tensor gets its edges first.
  Result<HloInstruction*> reduced_windows(const HloInstruction& one, const Sizes& sizes,
                                          HloInstruction* result) {
    if (one.operand_count() != 2) return fail(no_free_size(one, "has several results or batches"));
    StridedLoop loop;
    TFAOT_ASSIGN(loop.combine, combination(one));
    TFAOT_ASSIGN(result, filled(*one.operand(1), {}, sizes, result));
    TFAOT_ASSIGN(Sizes of_x, sizes_of(*one.operand(0)));
    const auto numbers = [&](auto member) {
      return numbers_of(one, one.shape().rank(), [member](const HloInstruction& sample, int d) {
        return (sample.window().dimensions(d).*member)();
      });
    };
    using Window = xla::WindowDimension;
    TFAOT_ASSIGN(const Sizes windows, numbers(&Window::size));
    TFAOT_ASSIGN(const Sizes strides, numbers(&Window::stride));
    TFAOT_ASSIGN(const Sizes dilations, numbers(&Window::window_dilation));
    Edges edges;
    TFAOT_ASSIGN(edges.low, numbers(&Window::padding_low));
    TFAOT_ASSIGN(edges.high, numbers(&Window::padding_high));
    TFAOT_ASSIGN(edges.steps, numbers(&Window::base_dilation));
    for (std::size_t d = 0; d < of_x.size(); ++d) {
      of_x[d] = (of_x[d] + SizePolynomial(-1)) * edges.steps[d] + SizePolynomial(1) + edges.low[d] +
                edges.high[d];
    }
    TFAOT_ASSIGN(HloInstruction* const x, padded_by(one, edges, of_x, unwritten(one, of_x)));
    // Windows come before the last dimension, as blocks are of it.
    const std::size_t last = sizes.size() - 1;
    const Sizes places_in_x = row_major_strides(of_x);
    const Sizes places = row_major_strides(sizes);
    LoopValue value{.tensor = x, .place = {0, {}}};
    loop.place.offset = 0;
    const auto add = [&](const SizePolynomial& turns, const SizePolynomial& in_x,
                         const SizePolynomial& in_result) {
      loop.sizes.push_back(turns);
      value.place.strides.push_back(in_x);
      loop.place.strides.push_back(in_result);
    };
    for (std::size_t d = 0; d <= last; ++d) {
      if (d == last) {
        for (std::size_t w = 0; w <= last; ++w) add(windows[w], dilations[w] * places_in_x[w], 0);
      }
      add(sizes[d], strides[d] * places_in_x[d], places[d]);
    }
    added(std::move(value), loop);
    return add_loop(loop, result, *numbers_);
  }

  // What its function of (old, new) makes: null for the new value.
  Result<const HloInstruction*> combination(const HloInstruction& one) {
    const HloInstruction* const combine = one.to_apply()->root_instruction();
    const auto* const old = one.to_apply()->parameter_instruction(0);
    const auto* const made = one.to_apply()->parameter_instruction(1);
    if (combine == made) return nullptr;
    const bool is_plain = one.to_apply()->num_parameters() == 2 && combine->operand_count() == 2 &&
                          combine->operand(0) == old && combine->operand(1) == made;
    if (!is_plain) return fail(no_free_size(one, "combines by a function of its own"));
    return combine;
  }

  // The loops over the windows of a gather or scatter go to these dimensions of the tensor, the
  // others to the indices.
  struct Windows {
    Dimensions loops;
    Dimensions outside;  // the other loops
    LoopIndices places;  // in the tensor
  };
  // `loops`, of so many: those over windows. `dropped`: dimensions that windows do not have.
  static Windows windows_in(const HloInstruction& tensor, std::int64_t all, Dimensions loops,
                            const Dimensions& dropped) {
    Windows windows{std::move(loops), {}, LoopIndices(tensor.shape().dimensions().size())};
    windows.outside = other_dimensions(all, windows.loops);
    const Dimensions windowed = other_dimensions(tensor.shape().rank(), dropped);
    for (std::size_t i = 0; i < windows.loops.size(); ++i) {
      engine::entry(windows.places, windowed[i]).loop = static_cast<std::size_t>(windows.loops[i]);
    }
    return windows;
  }

  // Where the indices say that a window begins. `to`: the dimensions that they are for; `sizes`:
  // those of the tensor; `of_window`: those of a window in it.
  Result<std::vector<ValuePlace>> places_by(const HloInstruction& indices, std::int64_t vector,
                                            const Dimensions& outside, const Dimensions& to,
                                            const Sizes& sizes, const Sizes& of_window,
                                            StridedLoop& loop) {
    std::vector<ValuePlace> places;
    const Sizes strides = row_major_strides(sizes);
    for (std::size_t k = 0; k < to.size(); ++k) {
      LoopIndices at;
      for (const std::int64_t i : outside) at.push_back({static_cast<std::size_t>(i)});
      if (vector < indices.shape().rank()) {
        at.insert(at.begin() + vector, {{}, 0, static_cast<std::int64_t>(k)});
      }
      TFAOT_ASSIGN(const std::size_t value, add_value(indices, at, loop));
      places.push_back(
          {value, engine::entry(strides, to[k]),
           engine::entry(sizes, to[k]) + SizePolynomial(-1) * engine::entry(of_window, to[k])});
    }
    return places;
  }

  Result<HloInstruction*> gathered(const HloInstruction& one, const Sizes& sizes,
                                   HloInstruction* result) {
    const xla::GatherDimensionNumbers& numbers = one.gather_dimension_numbers();
    const HloInstruction& x = *one.operand(0);
    TFAOT_ASSIGN(const Sizes of_x, sizes_of(x));
    TFAOT_ASSIGN(const Sizes of_window,
                 numbers_of(one, std::ssize(of_x), [](const HloInstruction& sample, int d) {
                   return engine::entry(sample.gather_slice_sizes(), d);
                 }));
    Dimensions dropped = in_order(numbers.collapsed_slice_dims());
    const Dimensions batches = in_order(numbers.operand_batching_dims());
    dropped.insert(dropped.end(), batches.begin(), batches.end());
    Windows windows = windows_in(x, one.shape().rank(), in_order(numbers.offset_dims()), dropped);
    const std::int64_t vector = numbers.index_vector_dim();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::int64_t d = numbers.start_indices_batching_dims(static_cast<int>(i));
      const std::int64_t from = engine::entry(windows.outside, d > vector ? d - 1 : d);
      engine::entry(windows.places, batches[i]).loop = static_cast<std::size_t>(from);
    }
    StridedLoop loop{.sizes = sizes};
    TFAOT_ASSIGN(auto places,
                 places_by(*one.operand(1), vector, windows.outside,
                           in_order(numbers.start_index_map()), of_x, of_window, loop));
    TFAOT_ASSIGN(const std::size_t element, add_element(x, windows.places, loop));
    loop.values[element].value_places = std::move(places);
    loop.place = place_of(own_indices(sizes.size()), row_major_strides(sizes), sizes.size());
    return add_loop(loop, result, *numbers_);
  }

  template <typename Repeated>
  static Dimensions in_order(const Repeated& numbers) {
    return {numbers.begin(), numbers.end()};
  }

  Result<HloInstruction*> scattered(const HloInstruction& one, const Sizes& sizes,
                                    HloInstruction* result) {
    const xla::ScatterDimensionNumbers& numbers = one.scatter_dimension_numbers();
    if (one.operand_count() != 3 || numbers.input_batching_dims_size() > 0) {
      return fail(no_free_size(one, "has several results or batches"));
    }
    TFAOT_ASSIGN(result, filled(*one.operand(0), own_indices(sizes.size()), sizes, result));
    const HloInstruction& updates = *one.operand(2);
    TFAOT_ASSIGN(const Sizes all, sizes_of(updates));
    StridedLoop loop{.sizes = all};
    TFAOT_ASSIGN(loop.combine, combination(one));
    const Windows windows =
        windows_in(one, updates.shape().rank(), in_order(numbers.update_window_dims()),
                   in_order(numbers.inserted_window_dims()));
    Sizes of_window(sizes.size(), 1);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (windows.places[d].loop) of_window[d] = all[*windows.places[d].loop];
    }
    TFAOT_ASSIGN(
        loop.value_places,
        places_by(*one.operand(1), numbers.index_vector_dim(), windows.outside,
                  in_order(numbers.scatter_dims_to_operand_dims()), sizes, of_window, loop));
    TFAOT_TRY(add_value(updates, own_indices(all.size()), loop));
    loop.place = place_of(windows.places, row_major_strides(sizes), all.size());
    loop.keeps_others = true;
    return add_loop(loop, result, *numbers_);
  }

  // Adds the element at these indices to the loop's values.
  Result<std::size_t> add_value(const HloInstruction& one, const LoopIndices& at,
                                StridedLoop& loop) {
    const bool is_number = one.opcode() == kConstant && one.shape().rank() == 0 &&
                           made_.contains(&one) && made_.at(&one).value->opcode() == kConstant;
    if (is_number) return added({.operation = &one}, loop);
    if (made_.contains(&one)) return add_element(one, at, loop);
    switch (one.opcode()) {
      case kIota:
        return added(
            {.counted = type_of(one),
             .place = place_of({engine::entry(at, one.dimensions(0))}, {1}, loop.sizes.size())},
            loop);
      case kBroadcast: {
        LoopIndices of_operand;
        for (const std::int64_t d : one.dimensions()) of_operand.push_back(engine::entry(at, d));
        return add_view(*one.operand(0), of_operand, loop);
      }
      case kTranspose: {
        LoopIndices of_operand(at.size());
        for (std::size_t d = 0; d < at.size(); ++d) {
          engine::entry(of_operand, one.dimensions(static_cast<std::int64_t>(d))) = at[d];
        }
        return add_view(*one.operand(0), of_operand, loop);
      }
      case kReshape:
      case kBitcast:
      case kCopy: {
        TFAOT_ASSIGN(const auto of_operand, indices_before(one, at));
        if (!of_operand) return add_element(one, at, loop);
        return add_value(*one.operand(0), *of_operand, loop);
      }
      case kReverse: {
        TFAOT_ASSIGN(const Sizes sizes, sizes_of(one));
        LoopIndices of_operand = at;
        for (const std::int64_t d : one.dimensions()) {
          LoopIndex& index = engine::entry(of_operand, d);
          index.offset =
              engine::entry(sizes, d) + SizePolynomial(-1) + SizePolynomial(-1) * index.offset;
          index.step = SizePolynomial(-1) * index.step;
        }
        return add_view(*one.operand(0), of_operand, loop);
      }
      case kSlice: {
        TFAOT_ASSIGN(const Sizes starts, numbers_of(one, std::ssize(at), [](const auto& x, int d) {
                       return x.slice_starts(d);
                     }));
        TFAOT_ASSIGN(const Sizes steps, numbers_of(one, std::ssize(at), [](const auto& x, int d) {
                       return x.slice_strides(d);
                     }));
        LoopIndices of_operand = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
          of_operand[d].offset = starts[d] + at[d].offset * steps[d];
          of_operand[d].step = at[d].step * steps[d];
        }
        return add_value(*one.operand(0), of_operand, loop);
      }
      case kConcatenate: {
        const auto d = static_cast<std::size_t>(one.concatenate_dimension());
        if (at[d].loop) return add_element(one, at, loop);
        return add_of_parts(one, at, loop);
      }
      default:
        return add_computed(one, at, loop);
    }
  }

  // Of a concatenation, at the same place of its dimension in all turns.
  Result<std::size_t> add_of_parts(const HloInstruction& one, LoopIndices at, StridedLoop& loop) {
    LoopIndex& index = at[static_cast<std::size_t>(one.concatenate_dimension())];
    for (const HloInstruction* part : one.operands()) {
      TFAOT_ASSIGN(const Sizes sizes, sizes_of(*part));
      const auto size = sizes[static_cast<std::size_t>(one.concatenate_dimension())].constant();
      const auto offset = index.offset.constant();
      if (!size || !offset) break;
      if (*offset < *size) return add_value(*part, at, loop);
      index.offset = *offset - *size;
    }
    return fail(no_free_size(one, "joins tensors at a place that follows the size"));
  }

  static std::size_t added(LoopValue value, StridedLoop& loop) {
    loop.values.push_back(std::move(value));
    return loop.values.size() - 1;
  }

  // An element that is read from memory, if it takes work to compute it again.
  Result<std::size_t> add_view(const HloInstruction& one, const LoopIndices& at,
                               StridedLoop& loop) {
    const bool is_work = one.IsElementwise() && one.operand_count() > 0 && one.shape().rank() > 0 &&
                         one.opcode() != kCopy;
    return is_work ? add_element(one, at, loop) : add_value(one, at, loop);
  }

  Result<std::size_t> add_element(const HloInstruction& one, const LoopIndices& at,
                                  StridedLoop& loop) {
    TFAOT_ASSIGN(const Made made, value_of(one));
    TFAOT_ASSIGN(const Sizes sizes, sizes_of(one));
    return added({.tensor = vector_of(made),
                  .place = place_of(at, row_major_strides(sizes), loop.sizes.size()),
                  .is_whole = !made.is_flat},
                 loop);
  }

  Result<std::size_t> add_computed(const HloInstruction& one, const LoopIndices& at,
                                   StridedLoop& loop) {
    const bool is_inline = one.IsElementwise() && one.opcode() != kConstant;
    if (xla::HloPredicateIsOp<kPad, kReduce, kReduceWindow, kGather, kSort, kScatter, kDynamicSlice,
                              kDynamicUpdateSlice>(&one) ||
        (is_inline && one.user_count() > 1 && !loop.values.empty())) {
      return add_element(one, at, loop);
    }
    if (!is_inline)
      return fail(no_free_size(one, "has an operation without a loop over its elements"));
    LoopValue value{.operation = &one};
    for (const HloInstruction* operand : one.operands()) {
      const bool is_scalar = operand->shape().rank() == 0;
      TFAOT_ASSIGN(const std::size_t place,
                   add_operand(*operand, is_scalar ? LoopIndices() : at, loop));
      value.operands.push_back(place);
    }
    return added(std::move(value), loop);
  }

  // What others use, too, is in memory.
  Result<std::size_t> add_operand(const HloInstruction& one, const LoopIndices& at,
                                  StridedLoop& loop) {
    const bool is_shared = one.IsElementwise() && one.operand_count() > 0 && one.user_count() > 1;
    return is_shared ? add_element(one, at, loop) : add_value(one, at, loop);
  }

  // Before a reshape that adds or drops dimensions of size 1; nothing for others.
  Result<std::optional<LoopIndices>> indices_before(const HloInstruction& reshape,
                                                    const LoopIndices& at) {
    TFAOT_ASSIGN(const Sizes to, sizes_of(reshape));
    TFAOT_ASSIGN(const Sizes from, sizes_of(*reshape.operand(0)));
    LoopIndices before;
    std::size_t next = 0;
    const auto skip_ones = [&] {
      while (next < to.size() && to[next].constant() == 1) ++next;
    };
    for (const SizePolynomial& size : from) {
      if (size.constant() == 1) {
        before.push_back({.step = 0});
        continue;
      }
      skip_ones();
      if (next == to.size() || to[next] != size) return std::optional<LoopIndices>();
      before.push_back(at[next++]);
    }
    skip_ones();
    if (next < to.size()) return std::optional<LoopIndices>();
    return std::optional(std::move(before));
  }

  std::map<const HloInstruction*, std::int64_t> wanted_;  // elements of vectors that are outputs
  std::map<std::size_t, std::size_t> weights_of_;         // whole ones, by place among the model's
  std::map<const HloInstruction*, std::vector<SizePolynomial>> words_;  // of constants
  std::vector<Sizes> parameter_sizes_;                                  // of the inputs
  xla::HloComputation* computation_ = nullptr;
  HloInstruction* anchor_ = nullptr;
  std::int64_t unwritten_ = 0;  // how many there are
  std::optional<SizeNumbers> numbers_;
  std::map<const HloInstruction*, Made> made_;
};

}  // namespace

Result<OptimizedModel> with_free_sizes(const std::vector<SizeSample>& samples,
                                       const Dimensions& largest,
                                       const SizedModelOptions& options) {
  return SizedModule(samples, largest, options).build();
}

}  // namespace tfaot::toolkit::engine
