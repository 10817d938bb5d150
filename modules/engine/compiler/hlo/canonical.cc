// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/canonical.h"

#include <fmt/format.h>

#include <map>

#include "compiler/hlo/build.h"
#include "tfaot/base/hash.h"
#include "xla/tsl/lib/strings/proto_serialization.h"

namespace tfaot::toolkit::engine {
namespace {

// Counts from 1 in the order of first use: XLA takes 0 for "none".
class Numbers {
 public:
  void add(std::int64_t id) { numbers_.emplace(id, numbers_.size() + 1); }
  std::int64_t of(std::int64_t id) const { return static_cast<std::int64_t>(numbers_.at(id)); }
  template <class Ids>
  void replace(Ids& ids) const {
    for (auto& id : ids) id = of(id);
  }

 private:
  std::map<std::int64_t, std::size_t> numbers_;
};

// In constants that a package's text holds.
constexpr std::int64_t kMostNumbers = 4096;

void rename_parameters(xla::ProgramShapeProto& shape) {
  int number = 0;
  for (auto& name : *shape.mutable_parameter_names()) name = fmt::format("p{}", number++);
}

}  // namespace

Result<xla::XlaComputation> canonical(const xla::XlaComputation& computation, Traces traces) {
  // Via a module: it writes computations and instructions after those that they use.
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  xla::HloModuleProto proto = module->ToProto();
  Numbers computations;
  Numbers instructions;
  for (const auto& one : proto.computations()) {
    computations.add(one.id());
    for (const auto& instruction : one.instructions()) instructions.add(instruction.id());
  }
  for (auto& one : *proto.mutable_computations()) {
    one.set_id(computations.of(one.id()));
    one.set_root_id(instructions.of(one.root_id()));
    one.set_name(fmt::format("computation.{}", one.id()));
    rename_parameters(*one.mutable_program_shape());
    for (auto& instruction : *one.mutable_instructions()) {
      instruction.set_id(instructions.of(instruction.id()));
      instruction.set_name(fmt::format("{}.{}", instruction.opcode(), instruction.id()));
      instructions.replace(*instruction.mutable_operand_ids());
      instructions.replace(*instruction.mutable_control_predecessor_ids());
      computations.replace(*instruction.mutable_called_computation_ids());
      const std::string origin = instruction.metadata().op_name();
      instruction.clear_metadata();
      if (traces == Traces::kNames) instruction.mutable_metadata()->set_op_name(origin);
      instruction.clear_original_value();
    }
  }
  proto.set_entry_computation_id(computations.of(proto.entry_computation_id()));
  proto.set_entry_computation_name(fmt::format("computation.{}", proto.entry_computation_id()));
  rename_parameters(*proto.mutable_host_program_shape());
  proto.set_name("tfaot");
  proto.set_id(0);
  proto.clear_stack_frame_index();
  return xla::XlaComputation(std::move(proto));
}

std::string hlo_sha256(const xla::XlaComputation& computation) {
  std::string bytes;
  tsl::SerializeToStringDeterministic(computation.proto(), &bytes);
  return sha256_of(bytes);
}

Result<std::string> hlo_text(const xla::XlaComputation& computation) {
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  std::int64_t numbers = 0;
  for (const auto* one : instructions_of(*module)) {
    if (one->IsConstant()) numbers += xla::ShapeUtil::ElementsInRecursive(one->shape());
  }
  return hlo_text(*module, numbers <= kMostNumbers ? Constants::kAll : Constants::kSmall);
}

std::string hlo_text(const xla::HloModule& module, Constants constants) {
  return module.ToString(xla::HloPrintOptions()
                             .set_print_large_constants(constants == Constants::kAll)
                             .set_print_metadata(false)
                             .set_print_percent(false)
                             .set_print_operand_shape(false)
                             .set_print_operand_index_annotation_interval(0)
                             .set_print_program_shape(false)
                             .set_include_layout_in_shapes(false));
}

}  // namespace tfaot::toolkit::engine
