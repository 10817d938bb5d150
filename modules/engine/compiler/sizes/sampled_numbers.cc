// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/sampled_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/service/hlo_verifier.h"

namespace tfaot::toolkit::engine {
namespace {

// Replaces each number by visit(number).
template <typename Visit>
void visit_shape(xla::ShapeProto& shape, const Visit& visit) {
  for (auto& size : *shape.mutable_dimensions()) size = visit(size);
  for (auto& part : *shape.mutable_tuple_shapes()) visit_shape(part, visit);
}

template <typename Visit>
void visit_numbers(xla::HloInstructionProto& proto, const Visit& visit) {
  visit_shape(*proto.mutable_shape(), visit);
  for (auto& operand : *proto.mutable_operand_shapes_with_layout()) visit_shape(operand, visit);
  for (auto& bounds : *proto.mutable_slice_dimensions()) {
    bounds.set_start(visit(bounds.start()));
    bounds.set_limit(visit(bounds.limit()));
    bounds.set_stride(visit(bounds.stride()));
  }
  for (auto& size : *proto.mutable_dynamic_slice_sizes()) size = visit(size);
  for (auto& size : *proto.mutable_gather_slice_sizes()) size = visit(size);
  if (proto.has_padding_config()) {
    for (auto& padding : *proto.mutable_padding_config()->mutable_dimensions()) {
      padding.set_edge_padding_low(visit(padding.edge_padding_low()));
      padding.set_edge_padding_high(visit(padding.edge_padding_high()));
      padding.set_interior_padding(visit(padding.interior_padding()));
    }
  }
  if (!proto.has_window()) return;
  for (auto& window : *proto.mutable_window()->mutable_dimensions()) {
    window.set_size(visit(window.size()));
    window.set_stride(visit(window.stride()));
    window.set_padding_low(visit(window.padding_low()));
    window.set_padding_high(visit(window.padding_high()));
    window.set_window_dilation(visit(window.window_dilation()));
    window.set_base_dilation(visit(window.base_dilation()));
  }
}

// Without the elements of a constant.
xla::HloInstructionProto proto_of(const HloInstruction& one) {
  if (one.opcode() != kConstant) return one.ToProto();
  xla::HloInstructionProto proto;
  proto.set_opcode(std::string(xla::HloOpcodeString(kConstant)));
  *proto.mutable_shape() = one.shape().ToProto();
  return proto;
}

using FormPlaces = std::map<const HloInstruction*, std::size_t>;

// What it reads and calls.
std::vector<std::size_t> sources_of(const HloInstruction& one, const FormPlaces& places) {
  std::vector<std::size_t> sources;
  for (const HloInstruction* operand : one.operands()) sources.push_back(places.at(operand));
  for (const xla::HloComputation* called : one.called_computations()) {
    sources.push_back(places.at(called->root_instruction()));
  }
  return sources;
}

// Leaves what two instructions of the same form have in common.
void clear_all_but_form(xla::HloInstructionProto& proto) {
  proto.clear_name();
  proto.clear_id();
  proto.clear_metadata();
  proto.clear_operand_ids();
  proto.clear_called_computation_ids();
  proto.clear_control_predecessor_ids();
  proto.clear_operand_shapes_with_layout();
  proto.clear_frontend_attributes();
  proto.clear_statistics_viz();
}

// The shapes of computations follow those of their instructions.
void set_program_shapes(xla::HloModuleProto& module) {
  for (auto& computation : *module.mutable_computations()) {
    xla::ProgramShapeProto& shape = *computation.mutable_program_shape();
    for (const auto& one : computation.instructions()) {
      if (one.id() == computation.root_id()) *shape.mutable_result() = one.shape();
      if (one.opcode() != "parameter") continue;
      *shape.mutable_parameters(static_cast<int>(one.parameter_number())) = one.shape();
    }
    if (computation.id() == module.entry_computation_id()) {
      *module.mutable_host_program_shape() = shape;
    }
  }
}

// Code for free sizes pads where the samples do, and cuts nowhere.
bool pads_alike(const xla::PaddingConfig& a, const xla::PaddingConfig& b) {
  for (int d = 0; d < a.dimensions_size(); ++d) {
    const auto& one = a.dimensions(d);
    const auto& other = b.dimensions(d);
    if ((one.edge_padding_low() < 0) != (other.edge_padding_low() < 0)) return false;
    if ((one.edge_padding_high() < 0) != (other.edge_padding_high() < 0)) return false;
  }
  return true;
}

}  // namespace

std::string operation_of_layer(const HloInstruction& one) {
  // Constants have the name of what uses them.
  std::string layer = one.metadata().op_name();
  if (layer.empty() && one.user_count() > 0) layer = one.users().front()->metadata().op_name();
  const std::string_view operation =
      one.opcode() == kParameter ? "weight or input" : xla::HloOpcodeString(one.opcode());
  return fmt::format("{}{}", operation, layer.empty() ? "" : " of " + layer);
}

ReadModule::ReadModule(std::unique_ptr<xla::HloModule> read)
    : module(std::move(read)), order(instructions_of(*module)) {
  FormPlaces places;
  for (const HloInstruction* one : order) {
    places.emplace(one, places.size());
    xla::HloInstructionProto proto = proto_of(*one);
    auto& own = numbers.emplace_back();
    visit_numbers(proto, [&](std::int64_t number) {
      own.push_back(number);
      return std::int64_t{0};
    });
    clear_all_but_form(proto);
    forms.push_back(fmt::format("{} of {}", proto.SerializeAsString(),
                                fmt::join(sources_of(*one, places), ", ")));
  }
}

bool have_same_form(const ReadModule& a, const ReadModule& b, std::string& why_not) {
  const auto [one, other] = std::ranges::mismatch(a.forms, b.forms);
  if (one == a.forms.end() && other == b.forms.end()) return true;
  if (one == a.forms.end() || other == b.forms.end()) {
    why_not = fmt::format("{} and {} instructions", a.forms.size(), b.forms.size());
  } else {
    const auto place = static_cast<std::size_t>(one - a.forms.begin());
    why_not = fmt::format("{} and {}", operation_of_layer(*a.order[place]),
                          operation_of_layer(*b.order[place]));
  }
  return false;
}

void SampledNumbers::add(const Dimensions& sizes, SharedModule module) {
  fits_.add_point(sizes);
  modules_.push_back(std::move(module));
  tables_.clear();
}

std::optional<SizePolynomial> SampledNumbers::number(std::size_t place, std::size_t k) {
  SizeValues values;
  for (const SharedModule& sample : modules_) values.emplace_back(sample->numbers[place].at(k));
  return fits_.through(values);
}

bool SampledNumbers::have_rules() {
  for (std::size_t i = 0; i < first().order.size(); ++i) {
    for (std::size_t k = 0; k < first().numbers[i].size(); ++k) {
      if (!number(i, k)) return false;
    }
  }
  return true;
}

bool SampledNumbers::have_constants() {
  for (std::size_t i = 0; i < first().order.size(); ++i) {
    if (first().order[i]->opcode() == kConstant && !table(i).has_rules()) return false;
  }
  return true;
}

std::optional<SampledNumbers> SampledNumbers::in_proportion(std::int64_t size,
                                                            const SharedModule& module) {
  const auto is_through_0 = [](const SizePolynomial& rule) {
    const auto at = [&](std::int64_t one) { return rule.at(std::array{one}); };
    return at(0) == 0 && at(3) == 3 * at(1);
  };
  SampledNumbers made;
  for (const std::int64_t times : {3, 2}) {
    const auto other = std::make_shared<ReadModule>(module->module->Clone(""));
    for (std::size_t i = 0; i < first().order.size(); ++i) {
      for (std::size_t k = 0; k < first().numbers[i].size(); ++k) {
        const auto rule = number(i, k);
        if (rule && rule->constant()) continue;
        if (!rule || !is_through_0(*rule)) return std::nullopt;
        other->numbers[i][k] *= times;
      }
      if (first().order[i]->opcode() != kConstant || table(i).is_same()) continue;
      // Words of a call.
      xla::Literal& own =
          *xla::Cast<xla::HloConstantInstruction>(other->order[i])->mutable_literal();
      bool is_it = is_whole_type(own.shape().element_type()) &&
                   table(i).has_places(own.shape().dimensions());
      xla::ShapeUtil::ForEachIndex(own.shape(), [&](absl::Span<const std::int64_t> index) {
        if (!is_it) return false;
        const auto rule = table(i).element(table(i).place(index, own.shape().dimensions()));
        if (rule && rule->is_same) return true;
        is_it = rule && is_through_0(rule->whole) &&
                own.SetIntegralAsS64(index, times * whole_at(own, index)).ok();
        return is_it;
      });
      if (!is_it) return std::nullopt;
    }
    made.add({times * size}, other);
  }
  made.add({size}, module);
  return made;
}

std::optional<SampledNumbers::Step> SampledNumbers::step_of_numbers() {
  for (std::size_t i = 0; i < first().order.size(); ++i) {
    for (std::size_t k = 0; k < first().numbers[i].size(); ++k) {
      if (number(i, k)) continue;
      Dimensions values;
      for (const SharedModule& sample : modules_) values.push_back(sample->numbers[i].at(k));
      const auto found = quotient_through(fits_.points(), values);
      if (!found) continue;
      std::int64_t step = 2;
      while (found->divisor % step != 0) ++step;
      return Step{found->dimension, step};
    }
    const bool is_constant = first().order[i]->opcode() == kConstant;
    if (!is_constant || table(i).has_rules()) continue;
    if (const auto found = step_of(i)) return found;
  }
  return std::nullopt;
}

// A constant follows sizes that are so far from each other.
std::optional<SampledNumbers::Step> SampledNumbers::step_of(std::size_t place) const {
  constexpr std::size_t kFew = 3;
  for (std::size_t d = 0; d < fits_.points().front().size(); ++d) {
    for (const std::int64_t step : {2, 3, 5, 7}) {
      SizeFits fits(fits_.bits());
      std::vector<const xla::Literal*> samples;
      for (std::size_t i = 0; i < modules_.size(); ++i) {
        if ((fits_.points()[i][d] - fits_.points().front()[d]) % step != 0) continue;
        fits.add_point(fits_.points()[i]);
        samples.push_back(&constant(i, place));
      }
      if (samples.size() <= kFew || samples.size() == modules_.size()) continue;
      if (SizedTable(std::move(samples), fits).has_rules()) return Step{d, step};
    }
  }
  return std::nullopt;
}

SizedTable& SampledNumbers::table(std::size_t place) {
  const auto known = tables_.find(place);
  if (known != tables_.end()) return known->second;
  std::vector<const xla::Literal*> samples;
  for (std::size_t i = 0; i < modules_.size(); ++i) samples.push_back(&constant(i, place));
  return tables_.try_emplace(place, std::move(samples), fits_).first->second;
}

// Of a large constant, some of the elements.
bool SampledNumbers::has_elements(std::size_t place, const Dimensions& sizes,
                                  const xla::Literal& actual) {
  constexpr std::int64_t kMostElements = 4096;
  SizedTable& table = this->table(place);
  const xla::Literal& first = table.first();
  if (table.is_same()) return actual == first;
  const xla::Shape& shape = actual.shape();
  if (!table.has_places(shape.dimensions())) return false;
  const std::int64_t step = xla::ShapeUtil::ElementsIn(shape) / kMostElements + 1;
  std::int64_t next = 0;
  bool is_same = true;
  xla::ShapeUtil::ForEachIndex(shape, [&](absl::Span<const std::int64_t> index) {
    if (next++ % step != 0) return true;
    const Dimensions at = table.place(index, shape.dimensions());
    const auto rule = table.element(at);
    if (!rule) return true;
    if (rule->is_same) {
      is_same = actual.GetAsString(index) == first.GetAsString(table.index_in_first(at));
    } else if (is_whole_type(shape.element_type())) {
      is_same = whole_at(actual, index) == rule->whole.at(sizes);
    } else {
      const double number = actual.GetAsDouble(index).value_or(0);
      is_same = whole_of(number, rule->inverse) == rule->whole.at(sizes);
    }
    return is_same;
  });
  return is_same;
}

SampledNumbers::Difference SampledNumbers::difference(const Dimensions& sizes,
                                                      const ReadModule& module) {
  Difference found;
  found.is_form = !have_same_form(first(), module, found.what);
  if (found.is_form) return found;
  const std::vector<HloInstruction*>& order = module.order;
  for (std::size_t i = 0; i < order.size(); ++i) {
    // A kernel's scratch memory follows no rule; its results have instructions of their own.
    const bool is_call = order[i]->opcode() == kCustomCall && order[i]->shape().IsTuple();
    const std::vector<std::int64_t>& numbers = module.numbers[i];
    bool is_same = true;
    for (std::size_t k = 0; !is_call && is_same && k < numbers.size(); ++k) {
      const auto rule = number(i, k);
      is_same = !rule || rule->at(sizes) == numbers[k];
    }
    if (is_same && order[i]->opcode() == kConstant && order[i]->shape().IsArray()) {
      is_same = has_elements(i, sizes, order[i]->literal());
    }
    if (!is_same) return {operation_of_layer(*order[i])};
  }
  return {};
}

Result<xla::Literal> SampledNumbers::constant_at(std::size_t place, const xla::Shape& shape,
                                                 const Dimensions& sizes) {
  SizedTable& table = this->table(place);
  if (table.is_same() || !shape.IsArray()) return table.first().Clone();
  const Error no_rule(operation_of_layer(*first().order[place]) + " has elements without a rule");
  if (!table.has_places(shape.dimensions())) return fail(no_rule);
  xla::Literal made(shape);
  Status done;
  xla::ShapeUtil::ForEachIndex(shape, [&](absl::Span<const std::int64_t> index) {
    const Dimensions at = table.place(index, shape.dimensions());
    const auto rule = table.element(at);
    if (!rule) {
      done = fail(no_rule);
    } else if (rule->is_same) {
      made.CopyElementFrom(table.first(), table.index_in_first(at), index);
    } else if (shape.element_type() == xla::PRED) {
      made.Set<bool>(index, rule->whole.at(sizes) != 0);
    } else if (is_whole_type(shape.element_type())) {
      done = checked(made.SetIntegralAsS64(index, rule->whole.at(sizes)));
    } else {
      const auto whole = static_cast<double>(rule->whole.at(sizes));
      done = checked(made.SetFromDouble(index, rule->inverse ? 1 / whole : whole));
    }
    return done.has_value();
  });
  TFAOT_TRY(std::move(done));
  return made;
}

Result<std::unique_ptr<xla::HloModule>> SampledNumbers::module_at(const Dimensions& sizes) {
  xla::HloModuleProto proto = first().module->ToProto();
  std::map<std::int64_t, std::size_t> places;  // by id
  for (const HloInstruction* one : first().order) places.emplace(one->unique_id(), places.size());
  for (auto& computation : *proto.mutable_computations()) {
    for (auto& one : *computation.mutable_instructions()) {
      const std::size_t place = places.at(one.id());
      const Error no_rule(operation_of_layer(*first().order[place]) + " has numbers of no rule");
      const xla::PaddingConfig padding = one.padding_config();
      bool has_rule = true;
      std::size_t k = 0;
      visit_numbers(one, [&](std::int64_t) {
        const auto rule = number(place, k++);
        has_rule = has_rule && rule;
        return has_rule ? rule->at(sizes) : 0;
      });
      visit_shape(*one.mutable_shape(), [&](std::int64_t size) {
        has_rule = has_rule && size >= 0;
        return size;
      });
      if (!has_rule || !pads_alike(padding, one.padding_config())) return fail(no_rule);
      if (one.opcode() != "constant") continue;
      TFAOT_ASSIGN(const xla::Literal literal, constant_at(place, xla::Shape(one.shape()), sizes));
      *one.mutable_literal() = literal.ToProto();
    }
  }
  set_program_shapes(proto);
  TFAOT_ASSIGN(auto module, make_module(proto));
  xla::HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  const auto verified = verifier.Run(module.get(), {});
  if (verified.ok()) return module;
  // The first sentence alone: the instruction follows.
  std::string why(verified.status().message().substr(0, verified.status().message().find('\n')));
  const std::string_view context = "during context [Unknown]: ";
  return fail(Error(why.starts_with(context) ? why.substr(context.size()) : why));
}

}  // namespace tfaot::toolkit::engine
