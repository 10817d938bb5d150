// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/inspect_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/limits.h"
#include "tfaot/compile/compile.h"
#include "tfaot/compile/engine_questions.h"
#include "tfaot/config/config.h"
#include "tfaot/elf/symbols.h"
#include "tfaot/inspect/dump_files.h"
#include "tfaot/inspect/graph_summary.h"
#include "tfaot/package/package.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/hlo_graph_json.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/records/symbols.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// Of a module that is not ours, every parameter may be an input.
constexpr std::int64_t kAllInputs = 1'000'000'000;

// The last one stays, because code is made of it.
void leave_out_equal(std::vector<HloGraph>& stages) {
  const auto same = [](const HloGraph& a, const HloGraph& b) { return a.text == b.text; };
  HloGraph last = stages.back();
  stages.erase(std::unique(stages.begin(), stages.end(), same), stages.end());
  stages.back() = std::move(last);
}

Result<std::string> read_dumped(const FileSystem& files, const Path& file) {
  auto text = read_limited(files, file, kDumpFileLimit);
  if (text) return text;
  return fail(std::move(text).error().note("move the file elsewhere to see the rest of the dump"));
}

// LLVM names kernels as HLO and the object do.
Status add_listings(const FileSystem& files, const DumpedModule& module, InspectedCode& code) {
  std::vector<std::string> kernels = called_kernels(code.stages.back());
  kernels.insert(kernels.end(), code.kernels.begin(), code.kernels.end());
  const auto add = [&](const Path& file, CodeListing& listing) -> Status {
    if (file.empty()) return {};
    TFAOT_ASSIGN(std::string text, read_dumped(files, file));
    listing = marked_listing(std::move(text), kernels);
    return {};
  };
  TFAOT_TRY(add(module.first_llvm, code.first_llvm));
  return add(module.llvm, code.llvm);
}

// What can be read of an object; a missing objdump is a remark.
Status add_object(const FileSystem& files, const Path& file, InspectedCode& code) {
  TFAOT_ASSIGN(const std::string object, read_dumped(files, file));
  code.code_bytes = object.size();
  code.code_sha256 = sha256_of(object);
  TFAOT_ASSIGN(code.kernels, undefined_symbols(object, {kSymbolPrefix, "__xla"}));
  std::erase_if(code.kernels, std::not_fn(is_kernel_symbol));
  auto assembly = disassembled(file, code.kernels);
  if (assembly) {
    code.assembly = *std::move(assembly);
  } else {
    code.remarks.push_back("no assembly: " + assembly.error().message());
  }
  return {};
}

// The stages, buffers and LLVM IR of a module of a dump folder.
Status add_module(Context& context, const EngineProgram& engine, const DumpedModule& module,
                  const DumpFacts& facts, InspectedCode& code) {
  const HloQuestion question{module.stages, facts.kernels, facts.inputs, facts.scratch_bytes};
  TFAOT_ASSIGN(code.stages, read_hlo(context.files, question, engine));
  leave_out_equal(code.stages);
  std::ranges::for_each(code.stages, complete_graph);
  if (!module.buffers.empty()) {
    TFAOT_ASSIGN(const std::string text, read_dumped(context.files, module.buffers));
    TFAOT_ASSIGN(code.buffers, read_buffer_map(text, module.buffers.string()));
  }
  if (code.code_bytes == 0) code.kernels = called_kernels(code.stages.back());
  return add_listings(context.files, module, code);
}

Result<DumpFacts> read_facts(const FileSystem& files, const Path& folder) {
  const Path file = folder / kDumpFactsName;
  if (!is_file(files, file)) {
    DumpFacts unknown;
    unknown.inputs = kAllInputs;
    return unknown;
  }
  TFAOT_ASSIGN(const std::string text, read_limited(files, file, kRecordLimit));
  return dump_facts_from_json(text, file.string());
}

void add_facts(const DumpFacts& facts, InspectedCode& code) {
  code.engine = facts.engine;
  code.batch_size = facts.batch_size;
  code.cpu_level = facts.cpu_level;
  code.picoseconds = facts.picoseconds;
  code.weights = facts.weights;
}

// One batch size and CPU level of a config.
Result<ModelSpec> spec_of(const Context& context, const InspectRequest& request) {
  ConfigOverrides overrides;
  overrides.dimensions = request.dimensions;
  if (request.batch_size) overrides.batch_sizes = {std::to_string(*request.batch_size)};
  if (!request.cpu_level.empty()) overrides.cpu_levels = {request.cpu_level};
  TFAOT_ASSIGN(ModelSpec spec, spec_at(context.files, request.path, overrides));
  CompilationSection& compilation = spec.compilation;
  compilation.batch_sizes = {compilation.batch_sizes.back()};
  compilation.cpu_levels = {compilation.cpu_levels.back()};
  if (request.without_flags) {
    compilation.xla_flags.clear();
    compilation.tf_xla_flags.clear();
  }
  return spec;
}

// Compiles one batch size and level below `scratch`; the steps go to `dump`.
Result<InspectedCode> compile_and_look(Context& context, const InspectRequest& request,
                                       const ModelSpec& spec, const Path& scratch,
                                       const Path& dump) {
  TFAOT_ASSIGN(CompileOptions options, compile_options(context, request.engine));
  options.work_directory = scratch / "work";
  options.dump = {dump.string(), request.passes};
  for (const Path& folder : {options.work_directory, dump}) {
    TFAOT_TRY(context.files.create_directories(folder));
  }
  TFAOT_ASSIGN(const CompiledModel compiled,
               compile_model(context.files, spec, options, context.diagnostics));
  InspectedCode code;
  code.name = spec.model.name + " " + spec.model.version;
  TFAOT_ASSIGN(const DumpFacts facts, read_facts(context.files, dump));
  add_facts(facts, code);
  TFAOT_TRY(
      add_object(context.files, options.work_directory / compiled.codes.front().object, code));
  TFAOT_ASSIGN(const auto modules, dumped_modules(context.files, dump));
  TFAOT_TRY(add_module(context, options.engine, modules.front(), facts, code));
  return code;
}

// What the code would be without one flag, which `spec` no longer has.
FlagEffect effect_of(Context& context, const InspectRequest& request, const ModelSpec& spec,
                     const Path& scratch, const InspectedCode& with) {
  FlagEffect effect;
  const auto without = compile_and_look(context, request, spec, scratch, scratch / "dump");
  static_cast<void>(context.files.remove_all(scratch));
  if (!without) {
    effect.problem = without.error().message();
    return effect;
  }
  const StageSummary summary = summary_of(without->stages.back());
  effect.instructions = summary.instructions;
  effect.picoseconds = summary.picoseconds;
  effect.code_bytes = without->code_bytes;
  effect.same_code = without->code_sha256 == with.code_sha256;
  return effect;
}

void add_flag_effects(Context& context, const InspectRequest& request, const ModelSpec& spec,
                      const Path& scratch, InspectedCode& code) {
  const auto add = [&](const char* variable, std::vector<std::string> CompilationSection::*flags) {
    const std::vector<std::string>& all = spec.compilation.*flags;
    for (std::size_t i = 0; i < all.size(); ++i) {
      ModelSpec without = spec;
      std::vector<std::string>& fewer = without.compilation.*flags;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      FlagEffect effect = effect_of(context, request, without, scratch / "without", code);
      effect.variable = variable;
      effect.flag = all[i];
      code.flags.push_back(std::move(effect));
    }
  };
  add("TF_XLA_FLAGS", &CompilationSection::tf_xla_flags);
  add("XLA_FLAGS", &CompilationSection::xla_flags);
}

Status check_dump_directory(const FileSystem& files, const Path& folder) {
  if (folder.empty() || files.list(folder).value_or(std::vector<std::string>()).empty()) return {};
  return fail(Error::usage(fmt::format("--dump: '{}' is not an empty folder", folder.string())));
}

Result<InspectedCode> inspect_config(Context& context, const InspectRequest& request) {
  TFAOT_TRY(check_dump_directory(context.files, request.dump_directory));
  TFAOT_ASSIGN(const ModelSpec spec, spec_of(context, request));
  const InterruptWatch watch;
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  const Path dump =
      request.dump_directory.empty() ? scratch.path() / "dump" : request.dump_directory;
  TFAOT_ASSIGN(InspectedCode code, compile_and_look(context, request, spec, scratch.path(), dump));
  if (request.flag_effects) add_flag_effects(context, request, spec, scratch.path(), code);
  return code;
}

Result<const CompiledCode*> wanted_code(const CompiledModel& model, const InspectRequest& request) {
  const std::int64_t size = request.batch_size.value_or(model.batch_sizes.front());
  const std::string& level =
      request.cpu_level.empty() ? model.cpu_levels.back() : request.cpu_level;
  for (const CompiledCode& code : model.codes) {
    if (code.batch_size == size && code.cpu_level == level) return &code;
  }
  return fail(Error::at({request.path.string()},
                        fmt::format("the package has no code for batch size {}, {}", size, level))
                  .note(fmt::format("it has the batch sizes {} and the levels {}",
                                    fmt::join(model.batch_sizes, ", "),
                                    fmt::join(model.cpu_levels, ", "))));
}

Allocation allocation_of(const BufferSlot& slot, std::size_t number) {
  const auto use = [&] {
    switch (slot.kind) {
      case BufferKind::kInput:
      case BufferKind::kWeight:
      case BufferKind::kLiveRows:
      case BufferKind::kTasks:
      case BufferKind::kSizes:
        return BufferUse::kInput;
      case BufferKind::kOutput:
        return BufferUse::kOutput;
      case BufferKind::kTemporary:
        return BufferUse::kTemporary;
      case BufferKind::kUnused:
        break;
    }
    return BufferUse::kOther;
  };
  return {static_cast<std::int64_t>(number), use(), -1, slot.size, {}};
}

WeightOrigin origin_of(const Weight& weight) {
  return {weight.name,
          fmt::format("{}[{}]", word_of(weight.dtype), fmt::join(weight.shape, ",")),
          weight.size,
          {},
          {}};
}

std::string no_hlo_remark(const CompiledModel& model, std::int64_t batch_size) {
  return fmt::format(
      "no hot spots and graphs: {}. Inspect its config instead: tfaot inspect CONFIG "
      "--batch-sizes {}",
      model.hlo_text.empty()
          ? "the package keeps no HLO"
          : fmt::format("a package keeps the HLO of its smallest batch size, {}, only",
                        model.batch_sizes.front()),
      batch_size);
}

Result<InspectedCode> inspect_tree(Context& context, const InspectRequest& request,
                                   const Path& tree, const Path& scratch) {
  FileSystem& files = context.files;
  TFAOT_ASSIGN(const Manifest manifest, read_tree(files, tree));
  TFAOT_ASSIGN(const std::string text, read_package_record(files, tree, manifest));
  TFAOT_ASSIGN(const PackagedModel package,
               package_record_from_json(manifest, text, (tree / kRecordName).string()));
  const CompiledModel& model = package.compiled;
  TFAOT_ASSIGN(const CompiledCode* const compiled, wanted_code(model, request));
  InspectedCode code;
  code.kind = InspectedKind::kPackage;
  code.name = manifest.name + " " + manifest.version;
  code.engine = model.engine;
  code.batch_size = compiled->batch_size;
  code.cpu_level = compiled->cpu_level;
  code.picoseconds = compiled->estimated_cost;
  for (const std::uint32_t weight : compiled->weights) {
    code.weights.push_back(origin_of(model.weights.at(weight)));
  }
  for (const BufferSlot& slot : compiled->buffers) {
    code.buffers.allocations.push_back(allocation_of(slot, code.buffers.allocations.size()));
  }
  TFAOT_TRY(add_object(files, tree / "lib" / compiled->object, code));
  if (model.hlo_text.empty() || compiled->batch_size != model.batch_sizes.front()) {
    code.remarks.push_back(no_hlo_remark(model, compiled->batch_size));
    return code;
  }
  code.remarks.push_back(
      "a package keeps no steps: inspect its config for all of them, and for lifetimes");
  DumpedModule module;
  module.stages = {{(scratch / "optimized.txt").string(), "optimized"}};
  TFAOT_TRY(
      files.replace_atomically(module.stages.front().path, model.hlo_text, Durability::kScratch));
  TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, request.engine.engine));
  DumpFacts facts;  // for the costs
  facts.kernels = cpu_level(compiled->cpu_level).kernels;
  facts.inputs = std::ssize(model.signature.inputs);
  facts.scratch_bytes = static_cast<std::int64_t>(bytes_of(code.buffers, BufferUse::kTemporary));
  TFAOT_TRY(add_module(context, engine, module, facts, code));
  return code;
}

// Otherwise an option that changes nothing would look as if it did.
Status check_request(const InspectRequest& request, InspectedKind kind) {
  const auto refuse = [&](bool given, const char* options, const char* what) -> Status {
    if (!given) return {};
    return fail(Error::usage(fmt::format("inspect: {} for {}; '{}' is a {}", options, what,
                                         request.path.filename().string(), word_of(kind))));
  };
  if (kind != InspectedKind::kConfig) {
    TFAOT_TRY(refuse(request.passes, "--passes is", "configs"));
    TFAOT_TRY(refuse(request.without_flags, "--against-no-flags is", "configs"));
    TFAOT_TRY(refuse(!request.dump_directory.empty(), "--dump is", "configs"));
  }
  if (kind != InspectedKind::kDump) return refuse(!request.module.empty(), "--module is", "dumps");
  const bool chooses = request.batch_size || !request.cpu_level.empty();
  return refuse(chooses, "--batch-sizes and --cpu-levels are", "configs and packages");
}

Result<InspectedCode> inspect_package(Context& context, const InspectRequest& request) {
  auto found = find_package(context, {request.path, request.allow_large, "tfaot inspect"});
  if (!found)
    return fail(
        std::move(found).error().note("it also takes a config, a model, or a folder "
                                      "that XLA dumped"));
  TFAOT_TRY(check_request(request, InspectedKind::kPackage));
  const InterruptWatch watch;
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  if (!found->is_archive) return inspect_tree(context, request, found->path, scratch.path());
  const Path tree = scratch.path() / "tree";
  TFAOT_TRY(
      extract_archive(context.files, found->path, tree, {.allow_large = request.allow_large}));
  return inspect_tree(context, request, tree, scratch.path());
}

// Where the most work is.
const DumpedModule& largest(const FileSystem& files, const std::vector<DumpedModule>& modules) {
  const auto size = [&](const DumpedModule& module) {
    return files.size(module.stages.back().path).value_or(0);
  };
  return *std::ranges::max_element(modules, {}, size);
}

Result<InspectedCode> inspect_dump(Context& context, const InspectRequest& request) {
  TFAOT_ASSIGN(const auto modules, dumped_modules(context.files, request.path));
  const DumpedModule* module = &largest(context.files, modules);
  std::vector<std::string> names;
  for (const DumpedModule& one : modules) {
    names.push_back(one.name);
    if (one.name == request.module) module = &one;
  }
  if (!request.module.empty() && module->name != request.module) {
    Error error = Error::at({request.path.string()},
                            fmt::format("the dump has no module '{}'", request.module));
    return fail(error.note(fmt::format("it has {}", fmt::join(names, ", "))));
  }
  const InterruptWatch watch;
  TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, request.engine.engine));
  TFAOT_ASSIGN(const DumpFacts facts, read_facts(context.files, request.path));
  InspectedCode code;
  code.kind = InspectedKind::kDump;
  code.name = module->name;
  add_facts(facts, code);
  std::erase(names, module->name);
  code.other_modules = std::move(names);
  if (!module->object.empty()) TFAOT_TRY(add_object(context.files, module->object, code));
  TFAOT_TRY(add_module(context, engine, *module, facts, code));
  return code;
}

}  // namespace

Result<InspectedCode> inspect_code(Context& context, const InspectRequest& request) {
  if (named_path(context.files, request.path).is_source()) {
    TFAOT_TRY(check_request(request, InspectedKind::kConfig));
    return inspect_config(context, request);
  }
  if (is_dump(context.files, request.path)) {
    TFAOT_TRY(check_request(request, InspectedKind::kDump));
    return inspect_dump(context, request);
  }
  return inspect_package(context, request);
}

}  // namespace tfaot::toolkit
