// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/object_code.h"

#include <fmt/format.h>

#include "code_version.h"
#include "compiler/code/aligned_buffers.h"
#include "compiler/code/plain_loops.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/loop_options.h"
#include "compiler/kernels/kernel_call.h"
#include "tensorflow/compiler/aot/compile.h"
#include "tensorflow/core/public/version.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/elf/symbols.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/symbols.h"
#include "xla/service/cpu/cpu_compiler.h"

namespace tfaot::toolkit::engine {
namespace {

// XLA registers only the back end of the host. tfcompile registers all that the library contains,
// then refuses flags without a config. LLVM's own functions for it are not exported.
void register_all_targets() {
  tensorflow::tfcompile::Main(tensorflow::tfcompile::MainFlags{}).IgnoreError();
}

// `place`: among the parameters after the weights.
BufferKind kind_after_weights(const OptimizedModel& model, std::size_t place) {
  std::vector<BufferKind> kinds;
  if (model.has_live_rows) kinds.push_back(BufferKind::kLiveRows);
  if (model.has_tasks) kinds.push_back(BufferKind::kTasks);
  if (model.has_sizes) kinds.push_back(BufferKind::kSizes);
  return kinds.at(place);
}

// Parameters and results must not share a slot: XLA copies an input that is returned unchanged.
Result<std::vector<BufferSlot>> buffer_slots(const xla::cpu::CpuAotCompilationResult& compiled,
                                             const OptimizedModel& model) {
  const std::size_t input_count = model.inputs.size();
  const std::size_t output_count = model.outputs.size();
  std::vector<BufferSlot> slots;
  std::vector<bool> found(output_count, false);
  for (const auto& info : compiled.buffer_infos()) {
    BufferSlot slot{BufferKind::kUnused, 0, info.size()};
    if (info.is_entry_parameter()) {
      const std::uint32_t number = info.entry_parameter_number();
      const bool is_input = number < input_count;
      slot.kind = is_input ? BufferKind::kInput : BufferKind::kWeight;
      slot.index = is_input ? number : number - static_cast<std::uint32_t>(input_count);
      if (!is_input && slot.index >= model.weights.size()) {
        slot.kind = kind_after_weights(model, slot.index - model.weights.size());
        slot.index = 0;
      }
    } else if (info.is_result_parameter()) {
      slot.kind = BufferKind::kOutput;
      slot.index = info.result_parameter_number();
      found.at(slot.index) = true;
    } else if (info.is_temp_buffer()) {
      slot.kind = BufferKind::kTemporary;
    }
    slots.push_back(slot);
  }
  for (std::size_t i = 0; i < output_count; ++i) {
    if (!found[i])
      return fail(Error::internal(fmt::format("output {} has no buffer of its own", i)));
  }
  return slots;
}

// The text in quotes after `key` in an instruction's text; empty: there is none.
std::string quoted_after(const std::string& key, const std::string& text) {
  const std::size_t start = text.find(key + '"');
  if (start == std::string::npos) return "";
  const std::size_t begin = start + key.size() + 1;
  return text.substr(begin, text.find('"', begin) - begin);
}

// For calls of our kernels, the kernel's name says more than "custom-call".
std::string category_of(const xla::HloProfilePrinterData::HloInstructionInfo& info) {
  const std::string target = quoted_after("custom_call_target=", info.long_name());
  return target.empty() ? info.category() : "kernel " + target;
}

// The name of the model's node that it computes, without the wrapper calls of SavedModels.
std::string origin_of(const xla::HloProfilePrinterData::HloInstructionInfo& info) {
  constexpr std::string_view kWrapper = "StatefulPartitionedCall/";
  std::string name = quoted_after("op_name=", info.long_name());
  while (name.starts_with(kWrapper)) name.erase(0, kWrapper.size());
  return printable_line(name);
}

CountedCode counted_code(const xla::HloProfilePrinterData& data) {
  CountedCode counted;
  counted.counters = data.profile_counters_size();
  for (const auto& computation : data.computation_infos()) {
    const bool is_entry = computation.name() == data.entry_computation();
    if (is_entry) counted.whole = computation.profile_index();
    for (const auto& info : computation.instruction_infos()) {
      counted.operations.push_back({info.short_name(), category_of(info),
                                    is_entry ? "" : computation.name(), info.profile_index(),
                                    origin_of(info)});
    }
  }
  return counted;
}

// Calls the runtime's functions in place of the C library's, whose last bits depend on the machine.
Result<std::string> with_own_functions(const std::string& object) {
#define TFAOT_FUNCTION_ROW(name, form) \
  {#name, "tfaot_" #name "_f64"}, {#name "f", "tfaot_" #name "_f32"},
  static const SymbolNames kNames = {
#include "tfaot/kernels/functions.def"
  };
  return rename_undefined(object, kNames);
}

// An entry is a line of JSON, then the object. An entry of another form comes from a defect of
// tfaot: the code is then compiled again.
std::optional<ObjectCode> code_from(const std::string& entry) {
  const auto line_end = entry.find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  auto tables = cached_tables_from_json(entry.substr(0, line_end));
  if (!tables) return std::nullopt;
  return ObjectCode{.bytes = entry.substr(line_end + 1),
                    .buffers = std::move(tables->buffers),
                    .result_slot = tables->result_slot};
}

}  // namespace

Result<ObjectCode> make_object_code(const OptimizedModel& model, const JobLevel& level,
                                    const std::string& target_triple, Counting counting,
                                    const JobDump& dump) {
  if (!target_triple.starts_with("x86_64")) register_all_targets();
  xla::HloModuleProto module = model.computation.proto();
  set_kernel_level(module, level.kernels);
  const xla::XlaComputation computation(std::move(module));
  xla::CompileOnlyClient::AotXlaComputationInstance instance;
  instance.computation = &computation;
  for (const auto& shape : model.shape.parameters()) instance.argument_layouts.push_back(&shape);
  instance.result_layout = &model.shape.result();
  xla::cpu::CpuAotCompilationOptions options(
      target_triple, level.cpu, level.features, kNeutralEntrySymbol,
      xla::cpu::CpuAotCompilationOptions::RelocationModel::BigPic);
  xla::DebugOptions& debug = *options.mutable_debug_options();
  // Casts to 16 bits must round (hlo/widened_halves.cc leaves only those).
  debug.set_xla_allow_excess_precision(false);
  set_loop_options(debug);
  if (!dump.directory.empty()) {
    debug.set_xla_dump_to(dump.directory);
    debug.set_xla_dump_hlo_as_proto(true);
    debug.set_xla_dump_hlo_as_text(true);
    if (dump.passes) debug.set_xla_dump_hlo_pass_re(".*");
  }
  if (counting == Counting::kOperations) debug.set_xla_hlo_profile(true);
  TFAOT_ASSIGN(auto* const client, compiler_client());
  const PlainLoops loops(level.cpu);
  std::optional<AlignedBuffers> buffers;
  if (model.has_sizes) buffers.emplace();  // else align_temporaries() does it
  auto results = client->CompileAheadOfTime({instance}, options);
  if (!results.ok()) {
    return fail(error_of(results.status(), fmt::format("XLA cannot make code for {} ({})",
                                                       target_triple, level.name)));
  }
  if (!loops.are_plain()) {
    return fail(Error::internal("XLA's library is not the one that tfaot was built with"));
  }
  const auto& compiled = static_cast<const xla::cpu::CpuAotCompilationResult&>(*results->front());
  ObjectCode code;
  TFAOT_ASSIGN(code.buffers, buffer_slots(compiled, model));
  const auto& bytes = compiled.object_file_data();
  TFAOT_ASSIGN(code.bytes, with_own_functions({bytes.begin(), bytes.end()}));
  if (const auto* const data = compiled.hlo_profile_printer_data()) {
    code.counted = counted_code(*data);
  } else if (counting == Counting::kOperations) {
    return fail(Error::internal("XLA made code that counts nothing"));
  }
  code.result_slot = static_cast<std::uint32_t>(compiled.result_buffer_index());
  return code;
}

CodeCache::CodeCache(FileSystem& fs, const CompileJob& job, RemoteCache::Warn warn)
    : remote_(fs, job.cache.remote, std::move(warn)) {
  if (!job.cache.directory.empty()) files_.emplace(fs, job.cache.directory);
  common_ = fmt::format("{}\ntensorflow {}\n{}\n{}\n", TFAOT_CODE_VERSION, TF_VERSION_STRING,
                        job.code.target_triple, job.cache.compiler_flags);
}

std::string CodeCache::key(const std::string& hlo, const JobLevel& level) const {
  return sha256_of(fmt::format("{}{}\n{}\n{}\n{}\n{}\n", common_, level.name, level.cpu,
                               level.features, level.kernels, hlo));
}

std::optional<ObjectCode> CodeCache::find(const std::string& hlo, const JobLevel& level) {
  const std::string name = key(hlo, level);
  if (files_) {
    if (const auto entry = files_->get(name)) return code_from(*entry);
  }
  const auto entry = remote_.get(name);
  if (!entry) return std::nullopt;
  auto code = code_from(*entry);
  // If it cannot be written, the next run gets it from the server again.
  if (code) static_cast<void>(put_file(name, *entry));
  return code;
}

Status CodeCache::keep(const std::string& hlo, const JobLevel& level, const ObjectCode& code) {
  const std::string name = key(hlo, level);
  const std::string entry = cached_tables_to_json({code.buffers, code.result_slot}) + code.bytes;
  remote_.put(name, entry);
  return put_file(name, entry);
}

Status CodeCache::put_file(const std::string& key, const std::string& entry) {
  if (!files_) return {};
  TFAOT_TRY(files_->put(key, entry));
  added_ += entry.size();
  return {};
}

}  // namespace tfaot::toolkit::engine
