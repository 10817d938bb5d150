// SPDX-License-Identifier: Apache-2.0
#include "compile_options.h"

#include <fmt/format.h>

#include "target_flags.h"

namespace tfaot {
namespace {

void add_upstream_options(CLI::App& app, CompileCommand& command) {
  app.add_option("-c,--aot-config", command.config, "the model's config (YAML or JSON)")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output-directory", command.output_directory,
                 "where the package tree goes; made when missing, other files in it stay")
      ->required()
      ->type_name("DIR");
  app.add_option("--tool-name", command.tool_name,
                 "name of the tool [default: tfaot-model-NAME, '_' as '-']")
      ->type_name("N");
  app.add_option("--tool-base", command.tool_base,
                 "base folder in the tool file [default: @TOOL_BASE@; with --dev DIR, as "
                 "$CMSSW_BASE/... below CMSSW_BASE]")
      ->type_name("B");
  app.add_flag("--dev", command.dev,
               "development: the tool file is ready for 'scram setup'; prints the next steps");
  app.add_option("--additional-flags", command.additional_flags,
                 "compiler flags: --target_triple=T, --target_cpu=C, --target_features=+A,+B")
      ->type_name("FLAGS");
}

void add_config_options(CLI::App& app, CompileCommand& command) {
  app.add_option("--batch-sizes", command.batch_sizes, "instead of the config's")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("1,2,4");
  app.add_option("--namespace", command.namespace_name, "instead of the config's")->type_name("NS");
  app.add_option("--cpu-levels", command.cpu_levels,
                 "instead of the config's, such as x86-64,x86-64-v3")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B");
  app.add_option("--target-triple", command.target_triple, "instead of the config's")
      ->type_name("T");
  app.add_option("--weights", command.weights,
                 "instead of the config's: shared (stored once) or embedded (in every object)")
      ->check(CLI::IsMember({"shared", "embedded"}).description(""))
      ->type_name("MODE");
}

void add_run_options(CLI::App& app, CompileCommand& command) {
  app.add_option("-j,--jobs", command.jobs,
                 "engine processes at the same time [default: the machine's cores]")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  app.add_option("--timeout", command.timeout_seconds,
                 "for each engine process, 0: none [default: 600]")
      ->type_name("SECONDS");
  app.add_option("--engine", command.engine,
                 "the engine to run [default: $TFAOT_ENGINE, else the one that came with tfaot]")
      ->type_name("PATH");
  app.add_option("--depfile", command.depfile,
                 "write what was read, for make and Ninja; target: DIR/manifest.json")
      ->type_name("FILE");
  app.add_option("--expect-name", command.expect_name)->group("");
  app.add_option("--expect-namespace", command.expect_namespace)->group("");
}

Status exclusive(const char* option, bool said, bool said_in_flags) {
  if (!said || !said_in_flags) return {};
  return fail(Error::usage(
      fmt::format("compile: {} and --additional-flags say the same thing twice", option)));
}

}  // namespace

void add_compile_options(CLI::App& app, CompileCommand& command) {
  add_upstream_options(app, command);
  add_config_options(app, command);
  add_run_options(app, command);
  command.verbosity.add_to(app);
  app.footer(
      "A failed or interrupted compilation leaves DIR as it was.\n"
      "Examples:\n"
      "  tfaot compile -c aot_config.yaml -o build/tagger\n"
      "  tfaot compile -c aot_config.yaml -o $CMSSW_BASE/tfaot/tagger --dev\n"
      "  tfaot compile -c aot_config.yaml -o out --additional-flags \"--target_cpu=x86-64-v3\"");
}

Result<ConfigOverrides> config_overrides(const CompileCommand& command) {
  TFAOT_ASSIGN(TargetFlags flags, parse_target_flags(command.additional_flags));
  TFAOT_TRY(
      exclusive("--target-triple", !command.target_triple.empty(), !flags.target_triple.empty()));
  TFAOT_TRY(exclusive("--cpu-levels", !command.cpu_levels.empty(), !flags.cpu_levels.empty()));
  ConfigOverrides overrides;
  overrides.batch_sizes = command.batch_sizes;
  overrides.namespace_name = command.namespace_name;
  overrides.cpu_levels = flags.cpu_levels.empty() ? command.cpu_levels : flags.cpu_levels;
  overrides.target_triple =
      flags.target_triple.empty() ? command.target_triple : flags.target_triple;
  if (!command.weights.empty()) {
    overrides.weights = command.weights == "shared" ? WeightsMode::kShared : WeightsMode::kEmbedded;
  }
  return overrides;
}

}  // namespace tfaot
