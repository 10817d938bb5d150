// SPDX-License-Identifier: Apache-2.0
#include "random_inputs.h"

#include <algorithm>
#include <string>

#include "scratch_folder.h"
#include "tfaot/compile/lower_model.h"
#include "tfaot/compile/read_hlo.h"
#include "tfaot/inspect/dump_files.h"
#include "tfaot/inspect/input_uses.h"

namespace tfaot::toolkit {
namespace {

// The first stage in which a product with a truth value is a choice, and the last one without calls
// of kernels.
constexpr const char* kStage = "simplified";

}  // namespace

Result<std::vector<InputUse>> find_input_uses(Context& context, const ModelSpec& spec,
                                              const Signature& signature, const EngineRun& engine) {
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  TFAOT_ASSIGN(CompileOptions options, compile_options(context, engine));
  options.work_directory = scratch.path() / "work";
  options.dump_directory = scratch.path() / "dump";
  for (const Path& folder : {options.work_directory, options.dump_directory}) {
    TFAOT_TRY(context.files.create_directories(folder));
  }
  ModelSpec one = spec;
  one.compilation.batch_sizes = {spec.compilation.batch_sizes.front()};
  one.compilation.cpu_levels = {spec.compilation.cpu_levels.front()};
  TFAOT_TRY(lower_model(context.files, one, options, context.diagnostics));
  TFAOT_ASSIGN(const auto modules, dumped_modules(context.files, options.dump_directory));
  HloQuestion question;
  for (const HloFile& file : modules.front().stages) {
    if (file.stage == kStage) question.files.push_back(file);
  }
  TFAOT_ASSIGN(const std::vector<HloGraph> graphs,
               read_hlo(context.files, question, options.engine, scratch.path()));
  std::vector<std::string> names;
  for (const TensorSpec& input : signature.inputs) names.push_back(input.name);
  if (graphs.empty()) return std::vector<InputUse>(names.size());
  return input_uses(graphs.front(), names);
}

}  // namespace tfaot::toolkit
