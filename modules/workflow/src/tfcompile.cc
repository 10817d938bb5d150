// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/tfcompile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tfaot/base/interrupts.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/compile.h"
#include "tfaot/compile/engine_questions.h"
#include "tfaot/compile/join_objects.h"
#include "tfaot/config/config.h"
#include "tfaot/elf/symbols.h"
#include "tfaot/generate/tfcompile_header.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/json_text.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// Prefixes of the runtime's symbols that a header's code may call: everything in namespace
// tfaot::v0_3_0 (tfaot/runtime/detail/abi.h), and one of its members.
std::vector<std::string> runtime_symbols() {
  const std::string name = "v" + replace_all(TFAOT_VERSION, ".", "_");
  return mapped(std::array{"_ZN", "_ZNK", "_ZTVN", "_ZTIN"}, [&](const char* kind) {
    return fmt::format("{}5tfaot{}{}", kind, name.size(), name);
  });
}

// How the config's shapes are read.
struct Batch {
  bool fixed = false;  // no dimension is the batch
  std::int64_t size = 1;
};

Status check_config(const Tf2xlaConfig& config, const std::string& file) {
  if (config.feeds.empty() || config.fetches.empty()) {
    return fail(Error::at({file}, "the config needs a feed and a fetch"));
  }
  if (config.variables > 0) {
    return fail(
        Error::at({file}, "variables cannot be compiled")
            .note("freeze the graph: variables to constants; values that the model must keep "
                  "from call to call: fetch them and feed them again"));
  }
  for (const Tf2xlaFeed& feed : config.feeds) {
    if (std::ranges::all_of(feed.shape, [](std::int64_t size) { return size > 0; })) continue;
    return fail(Error::at({file}, fmt::format("feed '{}' has a dimension below 1", feed.tensor))
                    .note("in tfcompile all shapes are known"));
  }
  return {};
}

// The first dimension of all feeds is the batch, unless they have none in common.
Result<Batch> batch_of(const Tf2xlaConfig& config, const TfcompileRequest& request) {
  TFAOT_TRY(check_config(config, request.config.string()));
  const auto& first = config.feeds.front().shape;
  const bool common = std::ranges::all_of(config.feeds, [&](const Tf2xlaFeed& feed) {
    return !first.empty() && !feed.shape.empty() && feed.shape[0] == first[0];
  });
  if (common && !request.fixed_shapes) return Batch{.size = first[0]};
  if (request.batch_sizes.empty()) return Batch{.fixed = true};
  return fail(Error::at({request.config.string()}, "batch_sizes, but no dimension is the batch")
                  .note(common ? "leave out one of batch_sizes and fixed_shapes"
                               : "all feeds must have the same first dimension"));
}

// An aot_config for the graph, so that all values are checked in one place.
std::string config_text(const TfcompileRequest& request, const Tf2xlaConfig& config,
                        const Batch& batch) {
  std::vector<std::string> inputs;
  for (const Tf2xlaFeed& feed : config.feeds) {
    std::string shape = fmt::format("{}", fmt::join(feed.shape, ","));
    if (!batch.fixed) shape.replace(0, shape.find(','), "null");
    inputs.push_back(
        fmt::format(R"({{"name":{},"shape":[{}]{}}})", json_string(feed.tensor), shape,
                    feed.dtype.empty() ? "" : ",\"dtype\":" + json_string(feed.dtype)));
  }
  const auto outputs =
      mapped(config.fetches, [](const Tf2xlaFetch& fetch) { return json_string(fetch.tensor); });
  const std::string name = request.cpp_class.substr(request.cpp_class.rfind(':') + 1);
  return fmt::format(R"({{"model":{{"name":{},"version":"1.0.0","format":"{}","frozen_graph":{},)"
                     R"("inputs":[{}],"outputs":[{}]}},"compilation":{{{}}}}})",
                     json_string(name), word_of(ModelFormat::kFrozenGraph),
                     json_string(request.graph.string()), join(inputs, ","), join(outputs, ","),
                     batch.fixed ? fmt::format(R"("batch":"{}")", word_of(BatchMode::kNone))
                                 : R"("batch_sizes":[1])");
}

// No level below the one that --target_features asks for. On aarch64 scram passes a feature that
// all CPUs have.
Result<std::vector<std::string>> levels_of(const TfcompileRequest& request,
                                           const std::string& triple) {
  const std::string machine = processor_of(triple);
  std::vector<std::string> levels;
  if (!request.target_features.empty() && machine == "x86_64") {
    TFAOT_ASSIGN(const std::string lowest, level_with_features(request.target_features));
    levels = {lowest};
    std::ranges::copy_if(default_cpu_levels(machine), std::back_inserter(levels),
                         [&](const std::string& level) { return ascend(lowest, level); });
  }
  if (!request.target_cpu.empty()) levels = {request.target_cpu};
  return request.cpu_levels.empty() ? levels : request.cpu_levels;
}

Result<ConfigOverrides> overrides_of(const TfcompileRequest& request, const Batch& batch) {
  ConfigOverrides overrides;
  overrides.target_triple = request.target_triple;
  TFAOT_ASSIGN(overrides.cpu_levels, levels_of(request, overrides.target_triple));
  if (batch.fixed) return overrides;
  overrides.batch_sizes = request.batch_sizes;
  const std::string own = std::to_string(batch.size);
  auto& sizes = overrides.batch_sizes;
  add_new(sizes, own);
  return overrides;
}

// "tfaot/runtime/model.h" -> text.
Result<std::map<std::string, std::string>> runtime_headers(const FileSystem& files,
                                                           const std::vector<StagedFile>& runtime) {
  const std::string folder = fmt::format("{}/", kRuntimeInclude);
  std::map<std::string, std::string> headers;
  for (const StagedFile& file : runtime) {
    if (!file.path.starts_with(folder)) continue;
    TFAOT_ASSIGN(headers[file.path.substr(folder.size())], files.read(file.source));
  }
  return headers;
}

// Errors name the text that the spec was made from, and the options, because the user knows those.
Result<ModelSpec> checked_spec(const FileSystem& files, const Path& aot_config,
                               const TfcompileRequest& request, const ConfigOverrides& overrides) {
  auto spec = load_model_spec(files, aot_config, overrides);
  if (spec) {
    spec->config_file.clear();  // the user has no such file
    return spec;
  }
  if (spec.error().where().file != aot_config.string()) return spec;
  return fail(std::move(spec).error().moved_to({request.config.string()}));
}

Status write_outputs(Context& context, const ModelSpec& spec, const CompiledModel& compiled,
                     const Path& work, const Path& runtime, const std::string& header,
                     const TfcompileRequest& request) {
  const std::string machine = processor_of(spec.compilation.target_triple);
  JoinRequest function;
  if (machine != context.environment.architecture) function.linker = machine + "-linux-gnu-ld";
  JoinRequest metadata = function;
  function.output = work / "function.o";
  metadata.output = work / "metadata.o";
  const std::vector<std::string> prefixes = runtime_symbols();
  TFAOT_ASSIGN(metadata.wanted,
               archive_symbols(context.files, runtime, {prefixes.begin(), prefixes.end()},
                               "tfaot_models_"));  // of libraries that 'tfaot link' makes
  for (const CompiledCode& code : compiled.codes) {
    function.objects.push_back(work / code.object);
    metadata.wanted.insert(metadata.wanted.end(), code.kernels.begin(), code.kernels.end());
  }
  if (!compiled.weights_object.empty()) function.objects.push_back(work / compiled.weights_object);
  metadata.archives = {runtime};
  metadata.weak = true;
  TFAOT_TRY(join_objects(context.files, function));
  TFAOT_TRY(join_objects(context.files, metadata));
  const DespiteInterrupts finish;  // these belong together
  TFAOT_TRY(context.files.move_file(function.output, request.out_function_object));
  TFAOT_TRY(context.files.move_file(metadata.output, request.out_metadata_object));
  return write_named_file(context.files, request.out_header, header);
}

}  // namespace

Status run_tfcompile(Context& context, const TfcompileRequest& request) {
  if (!is_file(context.files, request.graph)) {
    return fail(Error::at({request.graph.string()}, "no such file").note("named by --graph"));
  }
  TFAOT_ASSIGN(CompileOptions options, compile_options(context, {}));
  TFAOT_ASSIGN(options.cache, code_cache(context));
  TFAOT_ASSIGN(const Tf2xlaConfig config,
               read_tf2xla_config(context.files, request.config, options.engine));
  TFAOT_ASSIGN(const Batch batch, batch_of(config, request));
  TFAOT_ASSIGN(const ConfigOverrides overrides, overrides_of(request, batch));

  TFAOT_ASSIGN(const WorkFolder work,
               WorkFolder::create(context, request.out_function_object.parent_path()));
  const Path aot_config = work.path() / "aot_config.json";
  TFAOT_TRY(context.files.replace_atomically(aot_config, config_text(request, config, batch)));
  TFAOT_ASSIGN(const ModelSpec spec, checked_spec(context.files, aot_config, request, overrides));
  TFAOT_ASSIGN(const auto runtime,
               runtime_files(context, processor_of(spec.compilation.target_triple)));
  options.work_directory = work.path();
  options.coupled_rows = CoupledRows::kReported;  // tfcompile's classes run only compiled sizes
  TFAOT_ASSIGN(const CompiledModel compiled,
               compile_model(context.files, spec, options, context.diagnostics));

  TfcompileHeader header{request.graph.filename().string(), request.cpp_class, batch.size,
                         batch.fixed};
  for (const Tf2xlaFeed& feed : config.feeds) header.arg_names.push_back(feed.name);
  for (const Tf2xlaFetch& fetch : config.fetches) header.result_names.push_back(fetch.name);
  TFAOT_ASSIGN(header.runtime, runtime_headers(context.files, runtime));
  TFAOT_ASSIGN(const std::string text, tfcompile_header(spec, compiled, header));
  return write_outputs(context, spec, compiled, work.path(), runtime.front().source, text, request);
}

}  // namespace tfaot::toolkit
