// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_flow.h"

#include <algorithm>
#include <utility>

#include "xla/layout_util.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The most elements of a value worth knowing: positions of rows, and values computed from them.
constexpr std::int64_t kKnownElements = 1 << 16;

bool is_small(const xla::Shape& shape) {
  return shape.IsArray() && xla::ShapeUtil::ElementsIn(shape) <= kKnownElements &&
         shape.is_static();
}

bool can_be_evaluated(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kRng:
    case HloOpcode::kRngBitGenerator:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kCustomCall:
    case HloOpcode::kConstant:
    case HloOpcode::kParameter:
      return false;
    default:
      return true;
  }
}

// Each element of the result is one element of an operand, the same one at every batch size.
bool moves_alone(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

bool reads_batch(const HloInstruction& one, const RowSizes& sizes) {
  for (const auto* operand : one.operands()) {
    if (!operand->shape().IsArray()) continue;
    for (std::int64_t d = 0; d < operand->shape().rank(); ++d) {
      if (sizes.follows_batch(*operand, d)) return true;
    }
  }
  return false;
}

const RowCause* any_cause(const RowFact& fact) {
  if (fact.cause != nullptr) return fact.cause;
  for (const RowFact& one : fact.elements) {
    if (const RowCause* cause = any_cause(one)) return cause;
  }
  return nullptr;
}

std::int64_t axes_with_rows(const RowFact& fact) {
  return std::count_if(fact.axes.begin(), fact.axes.end(),
                       [](const Axis& axis) { return has_rows(axis); });
}

// The one value that all elements have.
std::optional<bool> decision(const RowFact& fact) {
  if (fact.known == nullptr || fact.cause != nullptr) return std::nullopt;
  const auto data = fact.known->data<bool>();
  if (data.empty() || std::find(data.begin(), data.end(), !data[0]) != data.end()) {
    return std::nullopt;
  }
  return data[0];
}

}  // namespace

const RowCause* RowStudy::mixing(const HloInstruction& one, std::string why) {
  return &causes_.emplace_back(RowCause{&one, std::move(why), true});
}

const RowCause* RowStudy::unclear(const HloInstruction& one, std::string why) {
  return &causes_.emplace_back(RowCause{&one, std::move(why), false});
}

std::optional<RowFact> RowStudy::evaluate(const HloInstruction& one,
                                          const std::vector<RowFact>& operands,
                                          const xla::Shape& shape) {
  if (!is_small(shape) || !can_be_evaluated(one)) return std::nullopt;
  std::vector<std::unique_ptr<HloInstruction>> owners;
  std::vector<HloInstruction*> stands;
  absl::flat_hash_map<const HloInstruction*, const xla::LiteralBase*> values;
  const RowCause* cause = nullptr;
  for (const RowFact& operand : operands) {
    if (operand.known == nullptr) return std::nullopt;
    if (cause == nullptr) cause = operand.cause;
    owners.push_back(HloInstruction::CreateParameter(0, operand.known->shape(), "known"));
    stands.push_back(owners.back().get());
    values[stands.back()] = operand.known.get();
  }
  const auto made = one.CloneWithNewOperands(shape, stands);
  auto value = evaluator_.EvaluateWithSubstitutions(made.get(), values);
  if (!value.ok()) return std::nullopt;
  if (!xla::LayoutUtil::IsMonotonicWithDim0Major(value->shape().layout())) {
    value = value->Relayout(xla::LayoutUtil::GetDefaultLayoutForShape(value->shape()));
  }
  RowFact fact = known_fact(std::move(*value));
  fact.cause = cause;
  return fact;
}

std::optional<Axis> RowStudy::meet(const RowFact& a, std::int64_t of_a, const RowFact& b,
                                   std::int64_t of_b) const {
  const Axis& left = a.axes[static_cast<std::size_t>(of_a)];
  const Axis& right = b.axes[static_cast<std::size_t>(of_b)];
  if (auto both = engine::meet(left, right)) return both;
  const auto stays = [&](const Axis& axis, const RowFact& other, std::int64_t dimension) {
    const auto place = row_place(axis);
    return place && other.known != nullptr && is_alike(*other.known, dimension, batch_, *place);
  };
  if (stays(left, b, of_b)) return left;
  if (stays(right, a, of_a)) return right;
  return std::nullopt;
}

RowFact RowStudy::join(const HloInstruction& one, const RowFact& a, const RowFact& b) {
  RowFact joined;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    joined.elements.push_back(join(one, a.elements[i], b.elements[i]));
  }
  joined.cause = a.cause != nullptr ? a.cause : b.cause;
  if (a.known != nullptr && b.known != nullptr && *a.known == *b.known) joined.known = a.known;
  for (std::size_t d = 0; d < a.axes.size(); ++d) {
    const auto dimension = static_cast<std::int64_t>(d);
    const auto axis = meet(a, dimension, b, dimension);
    if (!axis && joined.cause == nullptr) {
      joined.cause = unclear(one, "has rows in different places");
    }
    joined.axes.push_back(axis.value_or(axis_of(size_of(a.axes[d]), Along::kVaries)));
  }
  if (joined.cause == nullptr && axes_with_rows(joined) > 1) {
    joined.cause = unclear(one, "has rows in different places");
  }
  if (joined.cause != nullptr && joined.known == nullptr) {
    for (Axis& axis : joined.axes) axis = axis_of(size_of(axis), Along::kVaries);
  }
  return joined;
}

RowFact RowFlow::run(const xla::HloComputation& computation,
                     const std::vector<RowFact>& arguments) {
  for (const HloInstruction* one : computation.MakeInstructionPostOrder()) {
    facts_[one] = visit(*one, arguments);
    if (study_->sizes().others.contains(one) && any_cause(facts_[one]) == nullptr) {
      facts_[one] = not_clear(*one, "differs from one batch size to another");
    }
  }
  return facts_.at(computation.root_instruction());
}

RowFact RowFlow::mixed(const HloInstruction& one, std::string why) {
  return unknown(one.shape(), study_->mixing(one, std::move(why)));
}

RowFact RowFlow::not_clear(const HloInstruction& one, std::string why) {
  return unknown(one.shape(), study_->unclear(one, std::move(why)));
}

RowFact RowFlow::made(const HloInstruction& one, const xla::Shape& shape, const Sources& sources) {
  RowFact fact;
  for (std::size_t d = 0; d < sources.size(); ++d) {
    const std::int64_t size = shape.dimensions(static_cast<int>(d));
    if (sources[d].empty()) {
      fact.axes.push_back(axis_of(size, Along::kVaries));
      continue;
    }
    // Rows first: known values are then checked one by one.
    auto from = sources[d];
    std::stable_partition(from.begin(), from.end(), [](const Source& source) {
      return has_rows(source.fact->axes[static_cast<std::size_t>(source.dimension)]);
    });
    RowFact so_far = *from.front().fact;
    std::int64_t dimension = from.front().dimension;
    for (std::size_t i = 1; i < from.size(); ++i) {
      const Source& next = from[i];
      const auto axis = study_->meet(so_far, dimension, *next.fact, next.dimension);
      if (!axis) {
        return unknown(shape, study_->mixing(one, "depends on a row's position in the batch"));
      }
      so_far = RowFact{{*axis}, nullptr, nullptr, {}};
      dimension = 0;
    }
    fact.axes.push_back(so_far.axes[static_cast<std::size_t>(dimension)]);
  }
  if (axes_with_rows(fact) > 1) {
    return unknown(shape, study_->mixing(one, "combines each row with every other"));
  }
  return fact;
}

const RowCause* RowFlow::taken_together(const HloInstruction& one, std::int64_t operand,
                                        std::int64_t dimension, const std::string& why) {
  const HloInstruction* taken = one.operand(operand);
  if (has_rows(of(taken).axes[static_cast<std::size_t>(dimension)])) {
    return study_->mixing(one, why);
  }
  if (study_->sizes().follows_batch(*taken, dimension)) {
    return study_->mixing(one, "depends on how many rows the batch has");
  }
  return nullptr;
}

RowFact RowFlow::elementwise(const HloInstruction& one, const std::vector<RowFact>& operands,
                             const xla::Shape& shape) {
  if (one.opcode() == HloOpcode::kSelect) {
    if (const auto first = decision(operands[0])) return operands[*first ? 1 : 2];
  }
  if (auto known = study_->evaluate(one, operands, shape)) return *known;
  for (const RowFact& operand : operands) {
    if (operand.cause != nullptr) return unknown(shape, operand.cause);
  }
  Sources sources(static_cast<std::size_t>(shape.rank()));
  for (const RowFact& operand : operands) {
    if (std::ssize(operand.axes) != shape.rank()) continue;  // one scalar for all elements
    for (std::size_t d = 0; d < sources.size(); ++d) {
      sources[d].push_back({&operand, static_cast<std::int64_t>(d)});
    }
  }
  return made(one, shape, sources);
}

RowFact RowFlow::visit(const HloInstruction& one, const std::vector<RowFact>& arguments) {
  if (auto fact = visit_control(one, arguments)) return *fact;
  if (one.opcode() == HloOpcode::kGather) return visit_gather(one, *this);
  if (one.opcode() == HloOpcode::kScatter) return visit_scatter(one, *this);
  std::vector<RowFact> operands;
  for (const auto* operand : one.operands()) operands.push_back(of(operand));
  if ((one.IsElementwise() || one.opcode() == HloOpcode::kMap) && one.shape().IsArray() &&
      one.operand_count() > 0) {
    return elementwise(one, operands, one.shape());
  }
  // A value computed from a whole dimension as long as the batch may contain its length.
  if (moves_alone(one) || !reads_batch(one, study_->sizes())) {
    if (auto known = study_->evaluate(one, operands, one.shape())) return *known;
  }
  for (const RowFact& operand : operands) {
    if (const RowCause* cause = any_cause(operand)) return unknown(one.shape(), cause);
  }
  return visit_operation(one);
}

std::optional<RowFact> RowFlow::visit_control(const HloInstruction& one,
                                              const std::vector<RowFact>& arguments) {
  switch (one.opcode()) {
    case HloOpcode::kParameter:
      return arguments.at(static_cast<std::size_t>(one.parameter_number()));
    case HloOpcode::kConstant: {
      RowFact fact = is_small(one.shape()) ? known_fact(one.literal().Clone())
                                           : fact_of(one.shape(), Along::kVaries);
      if (study_->sizes().numbers.contains(&one)) {
        fact.cause = study_->unclear(one, "depends on how many rows the batch has");
      }
      return fact;
    }
    case HloOpcode::kTuple: {
      RowFact fact;
      for (const auto* operand : one.operands()) fact.elements.push_back(of(operand));
      return fact;
    }
    case HloOpcode::kGetTupleElement:
      return of(one.operand(0)).elements.at(static_cast<std::size_t>(one.tuple_index()));
    case HloOpcode::kCopy:
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kAddDependency:
      return of(one.operand(0));
    case HloOpcode::kCall:
    case HloOpcode::kFusion: {
      std::vector<RowFact> operands;
      for (const auto* operand : one.operands()) operands.push_back(of(operand));
      return RowFlow(*study_).run(*one.called_computations().front(), operands);
    }
    case HloOpcode::kWhile:
      return loop(one);
    case HloOpcode::kConditional:
      return branches(one);
    default:
      return std::nullopt;
  }
}

RowFact RowFlow::visit_operation(const HloInstruction& one) {
  if (auto fact = visit_move(one, *this)) return *fact;
  if (auto fact = visit_sum(one, *this)) return *fact;
  if (auto fact = visit_product(one, *this)) return *fact;
  const bool of_rows = std::any_of(one.operands().begin(), one.operands().end(),
                                   [&](const auto* operand) { return of(operand).has_rows(); });
  if (of_rows) return not_clear(one, "is not known to treat rows alone");
  return fact_of(one.shape(), Along::kVaries);
}

RowFact RowFlow::branches(const HloInstruction& one) {
  const RowFact& choice = of(one.operand(0));
  if (choice.cause != nullptr) return unknown(one.shape(), choice.cause);
  std::optional<RowFact> all;
  for (int i = 0; i < one.branch_count(); ++i) {
    const RowFact made = RowFlow(*study_).run(*one.branch_computation(i), {of(one.operand(i + 1))});
    all = all ? study_->join(one, *all, made) : made;
  }
  return *all;
}

namespace {

const RowCause* judge(const HloInstruction& output, const RowFact& fact, RowStudy& study) {
  if (fact.cause != nullptr) return fact.cause;
  if (fact.axes.empty()) return study.unclear(output, "has no rows");
  const Axis& first = fact.axes.front();
  if (first == Axis{{study.batch(), Along::kRows}}) return nullptr;
  if (!fact.has_rows() && is_same(first)) return nullptr;
  if (fact.has_rows()) return study.mixing(output, "moves the rows to other positions");
  return study.mixing(output, "depends on a row's position in the batch");
}

}  // namespace

std::vector<RowFact> row_arguments(const xla::HloComputation& entry, std::int64_t inputs,
                                   std::int64_t rows) {
  std::vector<RowFact> arguments;
  for (const auto* parameter : entry.parameter_instructions()) {
    RowFact fact = fact_of(parameter->shape(), Along::kVaries);
    if (parameter->parameter_number() < inputs) fact.axes[0] = {{rows, Along::kRows}};
    arguments.push_back(std::move(fact));
  }
  return arguments;
}

std::vector<const RowCause*> follow_rows(const xla::HloModule& module, std::int64_t inputs,
                                         RowStudy& study) {
  const auto& entry = *module.entry_computation();
  const RowFact result = RowFlow(study).run(entry, row_arguments(entry, inputs, study.batch()));
  const HloInstruction& root = *entry.root_instruction();
  if (!root.shape().IsTuple()) return {judge(root, result, study)};
  std::vector<const RowCause*> causes;
  for (std::size_t i = 0; i < result.elements.size(); ++i) {
    const bool direct = root.opcode() == HloOpcode::kTuple;
    const HloInstruction& output = direct ? *root.operand(static_cast<std::int64_t>(i)) : root;
    causes.push_back(judge(output, result.elements[i], study));
  }
  return causes;
}

}  // namespace tfaot::toolkit::engine
