// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/condor.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "tfaot/base/staged_update.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/records/names.h"
#include "tfaot/release/condor.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// A job of HTCondor starts with an empty environment. These variables say where things are.
constexpr std::string_view kForJobs =
    "HOME LD_LIBRARY_PATH PATH SSL_CERT_DIR SSL_CERT_FILE XDG_CACHE_HOME TFAOT_CACHE "
    "TFAOT_CACHE_DIR TFAOT_ENGINE TFAOT_REMOTE_CACHE TFAOT_TENSORFLOW_ROOT";

Result<std::vector<CondorModel>> read_models(const Context& context,
                                             const std::vector<std::string>& configs) {
  std::vector<CondorModel> models;
  std::map<std::string, std::string> configs_of;  // by tool
  for (const std::string& config : configs) {
    const Path path = context.absolute(config);
    TFAOT_ASSIGN(const ModelSpec spec, load_model_spec(context.files, path));
    const std::string tool = default_tool_name(spec.model.name);
    const auto [other, is_new] = configs_of.emplace(tool, config);
    if (!is_new) {
      return fail(Error::at({config}, fmt::format("makes {}, like {}", tool, other->second))
                      .note("give one of the models another name"));
    }
    models.push_back({tool, path});
  }
  return models;
}

}  // namespace

Result<Path> write_condor_files(Context& context, const CondorRequest& request) {
  CondorPlan plan;
  plan.folder = request.output_directory;
  plan.tool = context.environment.program;
  plan.cpus = request.cpus;
  plan.lines = request.lines;
  for (const auto& [name, value] : context.environment.variables) {
    if (is_one_of(kForJobs, name) && !value.empty()) plan.environment[name] = value;
  }
  TFAOT_ASSIGN(plan.models, read_models(context, request.configs));
  TFAOT_ASSIGN(const CondorTexts texts, condor_texts(plan));  // before anything is written
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, plan.folder));
  StagedUpdate update(context.files, work.path() / "files");
  if (const Path log = plan.folder / "log"; context.files.kind(log) == FileKind::kMissing) {
    const Path made = work.path() / "log";
    TFAOT_TRY(context.files.create_directories(made));
    TFAOT_TRY(update.put_folder(made, log, ""));
  }
  Path dag = plan.folder / "models.dag";
  TFAOT_TRY(update.put_file(texts.submit, plan.folder / "job.sub"));
  TFAOT_TRY(update.put_file(texts.dag, dag));
  TFAOT_TRY(update.commit());
  return dag;
}

}  // namespace tfaot::toolkit
