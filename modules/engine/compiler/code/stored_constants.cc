// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/stored_constants.h"

#include <algorithm>
#include <map>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/simplify.h"
#include "tfaot/base/hash.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::int64_t kFewestStoredBytes = 4096;

bool is_large_constant(const HloInstruction& one) {
  return one.opcode() == kConstant && one.shape().IsArray() && dtype_of(type_of(one)) &&
         one.literal().size_bytes() >= kFewestStoredBytes;
}

Result<std::size_t> place_in_store(const xla::LiteralSlice& literal, WeightStore& store) {
  const std::string_view bytes(static_cast<const char*>(literal.untyped_data()),
                               static_cast<std::size_t>(literal.size_bytes()));
  const std::string hash = sha256_of(literal.shape().ToString() + "\n" + std::string(bytes));
  const std::string key = "constant_" + hash;
  if (const auto known = store.find(key)) return *known;
  WeightOrigin origin;
  origin.name = "constant " + hash.substr(0, 8);
  return store.add(key, std::move(origin), literal.shape(),
                   [bytes](const ChunkSink& sink) { return sink(bytes); });
}

// Moves the last `count` parameters to `place`.
void move_last_parameters(xla::HloModuleProto& module, int place, int count) {
  for (auto& computation : *module.mutable_computations()) {
    if (computation.id() != module.entry_computation_id()) continue;
    const int first_moved = computation.program_shape().parameters_size() - count;
    for (auto& one : *computation.mutable_instructions()) {
      const auto number = static_cast<int>(one.parameter_number());
      if (one.opcode() != xla::HloOpcodeString(kParameter) || number < place) continue;
      one.set_parameter_number(number < first_moved ? number + count
                                                    : place + number - first_moved);
    }
    auto& shapes = *computation.mutable_program_shape()->mutable_parameters();
    std::rotate(shapes.begin() + place, shapes.begin() + first_moved, shapes.end());
    *module.mutable_host_program_shape() = computation.program_shape();
  }
}

}  // namespace

Result<OptimizedModel> with_stored_constants(OptimizedModel model, WeightStore& store,
                                             Traces traces) {
  TFAOT_ASSIGN(const auto module, make_module(model.computation.proto()));
  xla::HloComputation& entry = *module->entry_computation();
  const auto place = static_cast<int>(model.inputs.size() + model.weights.size());
  std::map<std::size_t, HloInstruction*> parameters;  // by what they hold
  for (HloInstruction* const one : entry.MakeInstructionPostOrder()) {
    if (!is_large_constant(*one)) continue;
    TFAOT_ASSIGN(const std::size_t index, place_in_store(one->literal(), store));
    HloInstruction*& parameter = parameters[index];
    if (parameter == nullptr) {
      parameter = entry.AddEntryComputationParameter(HloInstruction::CreateParameter(
          entry.num_parameters(), one->shape(), "constant_" + std::to_string(index)));
      model.weights.push_back(index);
    }
    TFAOT_TRY(checked(one->ReplaceAllUsesWith(parameter)));
  }
  if (parameters.empty()) return model;
  TFAOT_TRY(remove_dead_code(*module));
  xla::HloModuleProto proto = module->ToProto();
  move_last_parameters(proto, place, static_cast<int>(parameters.size()));
  TFAOT_ASSIGN(model.computation, canonical(xla::XlaComputation(std::move(proto)), traces));
  model.shape = xla::ProgramShape(model.computation.proto().host_program_shape());
  return model;
}

}  // namespace tfaot::toolkit::engine
