// SPDX-License-Identifier: Apache-2.0
// The loader looks for a function in the executable first, then in libraries, also where a library
// calls its own. So XLA calls the functions at the end of this file, which call XLA's.
#include "compiler/code/plain_loops.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorflow/core/public/version.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/layout_util.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/service/cpu/cpu_compiler.h"
#include "xla/service/cpu/cpu_options.h"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace tfaot::toolkit::engine {
namespace {

// Where members are in the library of this version: it comes without LLVM's headers, which the
// headers of the classes need.
static_assert(std::string_view(TF_VERSION_STRING) == "2.18.1");
constexpr std::size_t kCpuPlace = 0x248;      // std::string llvm::TargetMachine::TargetCPU
constexpr std::size_t kFusedPlace = 0x3c8;    // llvm::TargetMachine::Options.AllowFPOpFusion
constexpr std::size_t kReorderPlace = 0x1c0;  // bool xla::cpu::IrEmitter::allow_reassociation_

constexpr std::int32_t kFusedAnywhere = 0;  // llvm::FPOpFusion::Fast
constexpr std::int32_t kFusedNowhere = 2;   // llvm::FPOpFusion::Strict

struct PlainCode {
  std::string cpu;
  bool is_plain = false;
  // By emitter and computation: XLA makes two of some, one of which may be reassociated.
  std::map<std::pair<const void*, const xla::HloComputation*>, llvm::Function*> functions = {};
};
std::optional<PlainCode> plain_code;
bool adds_vectors = true;  // in the reduction that is compiled

void forbid_fusing(llvm::TargetMachine* machine) {
  char* const bytes = reinterpret_cast<char*>(machine);
  std::int32_t fused = kFusedNowhere;
  std::memcpy(&fused, bytes + kFusedPlace, sizeof(fused));
  const auto& cpu = *reinterpret_cast<const std::string*>(bytes + kCpuPlace);
  if (fused != kFusedAnywhere || cpu != plain_code->cpu) return;
  std::memcpy(bytes + kFusedPlace, &kFusedNowhere, sizeof(kFusedNowhere));
  plain_code->is_plain = true;
}

template <typename Function>
Function* of_library(Function& /*own*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

PlainLoops::PlainLoops(const std::string& cpu) { plain_code.emplace(PlainCode{cpu}); }
PlainLoops::~PlainLoops() { plain_code.reset(); }
bool PlainLoops::are_plain() const { return plain_code->is_plain; }

// xla::cpu::CpuCompiler::RunHloPasses(): it is the first one that gets the machine.
#define TFAOT_RUN_PASSES                                                                     \
  "_ZN3xla3cpu11CpuCompiler12RunHloPassesEPNS_9HloModuleEbPN4llvm13TargetMachineERKNS_8Comp" \
  "iler14CompileOptionsEb"
absl::Status run_xla_passes(xla::cpu::CpuCompiler* compiler, xla::HloModule* module, bool is_ahead,
                            llvm::TargetMachine* machine,
                            const xla::Compiler::CompileOptions& options,
                            bool is_mlir) __asm__(TFAOT_RUN_PASSES);
absl::Status run_xla_passes(xla::cpu::CpuCompiler* compiler, xla::HloModule* module, bool is_ahead,
                            llvm::TargetMachine* machine,
                            const xla::Compiler::CompileOptions& options, bool is_mlir) {
  static auto* const run = of_library(run_xla_passes, TFAOT_RUN_PASSES);
  if (plain_code && is_ahead) forbid_fusing(machine);
  return run(compiler, module, is_ahead, machine, options, is_mlir);
}

// xla::cpu::IrEmitter::EmitComputation(): marks the sums of reductions as ones that may be split.
#define TFAOT_EMIT_COMPUTATION                                                                  \
  "_ZN3xla3cpu9IrEmitter15EmitComputationEPNS_14HloComputationESt17basic_string_viewIcSt11char" \
  "_traitsIcEEbN4absl12lts_202308024SpanIKPNS_14HloInstructionEEEbNSA_IKN4llvm9Attribute8Attr"  \
  "KindEEE"
absl::StatusOr<llvm::Function*> emit_computation(
    void* emitter, xla::HloComputation* computation, std::string_view name, bool is_top,
    absl::Span<xla::HloInstruction* const> order, bool may_reorder,
    absl::Span<const std::int32_t> attributes) __asm__(TFAOT_EMIT_COMPUTATION);
absl::StatusOr<llvm::Function*> emit_computation(void* emitter, xla::HloComputation* computation,
                                                 std::string_view name, bool is_top,
                                                 absl::Span<xla::HloInstruction* const> order,
                                                 bool may_reorder,
                                                 absl::Span<const std::int32_t> attributes) {
  static auto* const emit = of_library(emit_computation, TFAOT_EMIT_COMPUTATION);
  if (!plain_code) {
    return emit(emitter, computation, name, is_top, order, may_reorder, attributes);
  }
  llvm::Function*& known = plain_code->functions[{emitter, computation}];
  if (known != nullptr) return known;
  auto made = emit(emitter, computation, name, is_top, order, false, attributes);
  if (made.ok()) known = *made;
  return made;
}

// xla::cpu::IrEmitter::EmitThreadLocalCall(): finds a function by whether its sums may be split.
#define TFAOT_EMIT_CALL                                                                       \
  "_ZN3xla3cpu9IrEmitter19EmitThreadLocalCallERKNS_14HloComputationEN4absl12lts_202308024Spa" \
  "nIKPN4llvm5ValueEEESt17basic_string_viewIcSt11char_traitsIcEEbb"
std::vector<llvm::Value*> emit_call(void* emitter, const xla::HloComputation& callee,
                                    absl::Span<llvm::Value* const> parameters,
                                    std::string_view name, bool is_reducer,
                                    bool is_in_function) __asm__(TFAOT_EMIT_CALL);
std::vector<llvm::Value*> emit_call(void* emitter, const xla::HloComputation& callee,
                                    absl::Span<llvm::Value* const> parameters,
                                    std::string_view name, bool is_reducer, bool is_in_function) {
  static auto* const emit = of_library(emit_call, TFAOT_EMIT_CALL);
  if (!plain_code) {
    return emit(emitter, callee, parameters, name, is_reducer, is_in_function);
  }
  bool& reorders = *reinterpret_cast<bool*>(static_cast<char*>(emitter) + kReorderPlace);
  const bool kept = std::exchange(reorders, false);
  auto values = emit(emitter, callee, parameters, name, false, is_in_function);
  reorders = kept;
  return values;
}

// xla::cpu::IrEmitter::HandleGetTupleElement(): reads a result's address from the kernel's table of
// results. LLVM does not see then that a loop writes its result over that operand, and runs it
// number by number, as it may not read ahead. EmitTargetAddressForOp() has the same address as an
// offset in the temporaries.
#define TFAOT_HANDLE_ELEMENT "_ZN3xla3cpu9IrEmitter21HandleGetTupleElementEPNS_14HloInstructionE"
#define TFAOT_EMIT_ADDRESS "_ZN3xla3cpu9IrEmitter22EmitTargetAddressForOpEPKNS_14HloInstructionE"
absl::Status emit_address(void* emitter,
                          const xla::HloInstruction* one) __asm__(TFAOT_EMIT_ADDRESS);
absl::Status handle_element(void* emitter,
                            xla::HloInstruction* element) __asm__(TFAOT_HANDLE_ELEMENT);
absl::Status handle_element(void* emitter, xla::HloInstruction* element) {
  static auto* const handle = of_library(handle_element, TFAOT_HANDLE_ELEMENT);
  const bool is_of_kernel = element->operand(0)->opcode() == xla::HloOpcode::kCustomCall;
  return plain_code && is_of_kernel ? emit_address(emitter, element) : handle(emitter, element);
}

// xla::cpu::IrEmitter::HandleReduce(): adds vectors of columns, and marks these sums, too. LLVM
// does not split those of vectors, but those of a single number, which an odd count of columns has.
#define TFAOT_HANDLE_REDUCE "_ZN3xla3cpu9IrEmitter12HandleReduceEPNS_14HloInstructionE"
absl::Status handle_reduce(void* emitter, xla::HloInstruction* reduce) __asm__(TFAOT_HANDLE_REDUCE);
absl::Status handle_reduce(void* emitter, xla::HloInstruction* reduce) {
  static auto* const handle = of_library(handle_reduce, TFAOT_HANDLE_REDUCE);
  const xla::Shape& shape = reduce->shape();
  adds_vectors =
      shape.IsArray() && shape.rank() > 0 &&
      shape.dimensions().at(static_cast<std::size_t>(xla::LayoutUtil::Minor(shape.layout(), 0))) %
              2 ==
          0;
  return handle(emitter, reduce);
}

// xla::AlgebraicSimplifierVisitor: writes `a / b / c` as `a / (b * c)` and the like, where neither
// a gather nor a reshape lies between, which there may be in a batch only. Our passes have done so
// in the form that all batch sizes have in common. What is left to it are numbers beside one
// operation, whatever its neighbours are.
bool keeps_arithmetic(const xla::HloInstruction& one) {
  const auto number_of = [&](std::int64_t i) -> const xla::Literal* {
    const xla::HloInstruction* operand = one.operand(i);
    if (operand->opcode() == xla::HloOpcode::kBroadcast) operand = operand->operand(0);
    return operand->IsConstant() ? &operand->literal() : nullptr;
  };
  const auto is_all = [](const xla::Literal* number, float value) {
    return number != nullptr && number->IsAllFloat(value);
  };
  const xla::PrimitiveType type = one.shape().element_type();
  const bool is_real = xla::primitive_util::IsFloatingPointType(type);
  if (!plain_code || (!is_real && !xla::primitive_util::IsComplexType(type))) return false;
  switch (one.opcode()) {
    case xla::HloOpcode::kAdd:  // a + 0 is a
      return !is_all(number_of(0), 0) && !is_all(number_of(1), 0);
    case xla::HloOpcode::kMultiply:  // a * 1 is a
      return !is_all(number_of(0), 1) && !is_all(number_of(1), 1);
    case xla::HloOpcode::kSubtract:  // a - 3 is a + -3
    case xla::HloOpcode::kDivide:    // a / 3 is a * (1/3)
      return number_of(1) == nullptr;
    default:
      return true;
  }
}

#define TFAOT_KEEP_ARITHMETIC(handle, name)                                                      \
  absl::Status handle(void* visitor, xla::HloInstruction* one) __asm__(                          \
      "_ZN3xla26AlgebraicSimplifierVisitor" name "EPNS_14HloInstructionE");                      \
  absl::Status handle(void* visitor, xla::HloInstruction* one) {                                 \
    static auto* const rewrite =                                                                 \
        of_library(handle, "_ZN3xla26AlgebraicSimplifierVisitor" name "EPNS_14HloInstructionE"); \
    return keeps_arithmetic(*one) ? absl::OkStatus() : rewrite(visitor, one);                    \
  }
TFAOT_KEEP_ARITHMETIC(keep_add, "9HandleAdd")
TFAOT_KEEP_ARITHMETIC(keep_divide, "12HandleDivide")
TFAOT_KEEP_ARITHMETIC(keep_log, "9HandleLog")
TFAOT_KEEP_ARITHMETIC(keep_multiply, "14HandleMultiply")
TFAOT_KEEP_ARITHMETIC(keep_power, "11HandlePower")
TFAOT_KEEP_ARITHMETIC(keep_reciprocal_root, "11HandleRsqrt")
TFAOT_KEEP_ARITHMETIC(keep_reduction, "12HandleReduce")  // of joined tensors: a sum of sums
TFAOT_KEEP_ARITHMETIC(keep_root, "10HandleSqrt")
TFAOT_KEEP_ARITHMETIC(keep_subtract, "14HandleSubtract")
#undef TFAOT_KEEP_ARITHMETIC

// xla::cpu::LLVMTargetMachineFeatures::minimum_alignment_for_allocation(): Eigen's functions, which
// ask for memory, are called only for aligned tensors.
#define TFAOT_ALIGNMENT \
  "_ZNK3xla3cpu25LLVMTargetMachineFeatures32minimum_alignment_for_allocationEl"
std::int64_t least_alignment(const void* features, std::int64_t bytes) __asm__(TFAOT_ALIGNMENT);
std::int64_t least_alignment(const void* features, std::int64_t bytes) {
  static auto* const alignment = of_library(least_alignment, TFAOT_ALIGNMENT);
  return plain_code ? 1 : alignment(features, bytes);
}

}  // namespace tfaot::toolkit::engine

namespace xla::cpu::options {

// The library's own asks for an option that also makes all code small.
bool VectorizedReduceDisabled(const HloModuleConfig& /*config*/) {
  return !tfaot::toolkit::engine::adds_vectors;
}

}  // namespace xla::cpu::options
