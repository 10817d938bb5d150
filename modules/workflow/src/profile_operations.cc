// SPDX-License-Identifier: Apache-2.0
#include "profile_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profile_inputs.h"
#include "tfaot/profile/operations.h"
#include "tfaot/workflow/build_package.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {

Result<std::vector<ProfiledOperations>> profile_operations(Context& context,
                                                           const OperationsRequest& request) {
  std::vector<CountedCode> counted;
  BuildRequest build;
  (is_config(request.config) ? build.config : build.model) = request.config;
  build.overrides = request.overrides;
  build.overrides.cpu_levels = {request.cpu_level};
  build.output_directory = request.folder / "counting";
  build.engine = request.engine;
  build.counted = &counted;
  SilentDiagnostics silent;
  Context inner = context.telling(silent);
  TFAOT_TRY(build_package(inner, build));
  TFAOT_ASSIGN(const FoundPackage found,
               find_package(context, {build.output_directory, false, "tfaot profile"}));
  TFAOT_ASSIGN(const auto model, load_package(context, found));
  const std::vector<std::int64_t>& sizes = model->manifest().batch_sizes;
  TFAOT_ASSIGN(const RunnerFiles files,
               write_runner_files(context, model, request.inputs, std::ranges::max(sizes),
                                  request.folder, Predictions::kNone));
  RunnerSpec spec;
  spec.program = request.runner;
  spec.timeout = engine_time(context);
  spec.memory = engine_memory(context);
  spec.settings = {"engine=package", request.core, "cpu_level=" + request.cpu_level};
  for (const CountedCode& code : counted) {
    spec.settings.push_back(fmt::format("counters={} {}", code.batch_size, code.counters));
  }
  for (const std::int64_t size : sizes) {  // else a size might run as several smaller ones
    spec.settings.push_back(fmt::format("batch_rule={0}:{0}", size));
  }
  for (const auto* const more : {&files.package, &files.tensors}) {
    spec.settings.insert(spec.settings.end(), more->begin(), more->end());
  }
  TFAOT_ASSIGN(const auto runner, RunnerProcess::start(context.files, spec));
  std::vector<ProfiledOperations> all;
  std::ranges::sort(counted, {}, &CountedCode::batch_size);
  for (const CountedCode& code : counted) {
    TFAOT_ASSIGN(ProfiledOperations operations, measure_operations(*runner, code, request.measure));
    all.push_back(std::move(operations));
  }
  return all;
}

}  // namespace tfaot::toolkit
