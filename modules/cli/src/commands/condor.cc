// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/condor.h"

#include <memory>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

Status condor(CondorRequest request, Program& program) {
  make_absolute(program, {&request.output_directory});
  TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  TFAOT_TRY(check_outside_packages(program.files, "--output-directory", request.output_directory));
  TFAOT_ASSIGN(const Path dag, write_condor_files(program, request));
  show_done(program, {{"kind", "dag"}, {"path", dag.string()}},
            "to submit: condor_submit_dag " + shell_quoted(dag.string()) + "\n");
  return {};
}

}  // namespace

Action add_condor(CLI::App& app) {
  auto request = std::make_shared<CondorRequest>();
  add_value(app, "CONFIG", request->configs, "the models' configs")->required();
  add_value(app, "-o,--output-directory DIR (required)", request->output_directory,
            "where models.dag and job.sub go, then log, trees and\ndist; made if missing");
  add_value(app, "--cpus N", request->cpus, "cores for each model [1]")
      ->check(WholeNumber{"", 1, 1024});
  add_value(app, "--line TEXT", request->lines,
            "a line for job.sub, such as 'request_memory = 4GB';\nmay be given several times")
      ->allow_extra_args(false);
  app.footer(
      R"(Compiles nothing itself. Each model becomes two nodes of the DAG: compile, into trees/TOOL, and
package, into dist. A failed node is tried twice more, unless the model is wrong. All machines
must see the same files.
Example:
  tfaot condor models/*/aot_config.yaml -o jobs --line '+JobFlavour = "espresso"'
  condor_submit_dag jobs/models.dag)");
  return [request](Program& program) { return condor(*request, program); };
}

}  // namespace tfaot::toolkit
