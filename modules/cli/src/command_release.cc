// SPDX-License-Identifier: Apache-2.0
#include "command_release.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "spec_files.h"
#include "spec_source.h"
#include "text_table.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/text.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/names.h"
#include "tfaot/release/release.h"
#include "tfaot/release/spec.h"
#include "toolkit_hash.h"
#include "work_folder.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

using Kind = ReleaseResult::Kind;

struct Options {
  VerbosityOption verbosity;
  std::vector<std::string> configs;
  std::string output_directory;
  std::string source;
  std::string license = SpecWords().license;
  unsigned jobs = 0;  // the machine's cores
};

// Writes the specs and their sources; a model at fault is set aside.
class Preparation {
 public:
  Preparation(const Options& options, Context& context, const Path& output)
      : options_(options), context_(context), output_(output) {}

  Status run(const Path& work) {
    work_ = work / "spec";
    if (!options_.source.empty()) {
      unpacked_ = {context_.absolute(options_.source), work / "source", {}};
      TFAOT_ASSIGN(unpacked_.paths,
                   unpack_source_archive(context_.files, unpacked_.archive, unpacked_.folder));
    }
    for (const std::string& config : options_.configs) {
      TFAOT_TRY(check_interrupts());
      if (Status prepared = prepare(config); !prepared) {
        TFAOT_TRY(check_interrupts());  // the model is not at fault
        failed.push_back({Kind::kFailed, config, "", {}, std::move(prepared).error()});
      }
    }
    return {};
  }

  std::vector<ReleaseJob> jobs;
  std::vector<ReleaseResult> failed;

 private:
  Status prepare(const std::string& config) {
    TFAOT_ASSIGN(const SpecSource source, options_.source.empty()
                                              ? source_of_files(context_, context_.absolute(config))
                                              : source_of_archive(context_, unpacked_, config));
    const SpecWords words{.tool_name = "", .license = options_.license};
    ReleaseJob job{spec_record(source, words, SpecFlavour::kRpm), {}};
    const auto [other, is_new] = configs_.emplace(job.spec.tool_name, config);
    if (!is_new) {
      return fail(Error::at({config},
                            fmt::format("makes {}, as {} does", job.spec.tool_name, other->second))
                      .note("give one of the models another name"));
    }
    TFAOT_TRY(spec_text(job.spec, SpecFlavour::kRpm));  // before anything is written
    const Path archive = source_file(output_, job.spec, SpecFlavour::kRpm);
    TFAOT_ASSIGN(const WrittenSpec written,
                 write_spec(context_, job.spec, SpecFlavour::kRpm, {output_, work_, &source}));
    TFAOT_ASSIGN(job.inputs.source_sha256, sha256_of_file(context_.files, archive));
    job.inputs.spec_sha256 = sha256_of(written.text + compile_file_text(SpecFlavour::kRpm));
    TFAOT_ASSIGN(job.inputs.toolkit_sha256, toolkit(source.spec));
    job.inputs.toolkit_version = TFAOT_VERSION;
    jobs.push_back(std::move(job));
    return {};
  }

  Result<std::string> toolkit(const ModelSpec& spec) {
    const std::string machine = processor_of(spec.compilation.target_triple);
    std::string& known = toolkits_[machine];
    if (known.empty()) {
      TFAOT_ASSIGN(known, toolkit_sha256(context_, machine));
    }
    return known;
  }

  const Options& options_;
  Context& context_;
  const Path& output_;
  Path work_;
  UnpackedArchive unpacked_;
  std::map<std::string, std::string> configs_;   // by tool
  std::map<std::string, std::string> toolkits_;  // hashes, by machine
};

std::vector<std::string> row(const ReleaseResult& result) {
  const std::string version = fmt::format("{}-{}", result.rpm.version, result.rpm.release);
  if (result.kind == Kind::kUpToDate) return {result.tool_name, version, "up to date"};
  return {result.tool_name, version, "built", result.why};
}

// rpm refuses all when one of them is installed. Empty when there is nothing new.
std::string install_command(const std::vector<ReleaseResult>& results, const Path& rpms) {
  constexpr std::size_t kMostNames = 4;
  std::vector<std::string> files;
  for (const ReleaseResult& result : results) {
    if (result.kind == Kind::kBuilt) files.push_back((rpms / result.rpm.rpm).string());
  }
  if (files.empty()) return "";
  return "to install: rpm -U " +
         (files.size() > kMostNames ? "--replacepkgs " + (rpms / "*.rpm").string()
                                    : join(files, " ")) +
         "\n";
}

Status report(Context& context, const std::vector<ReleaseResult>& results, const Path& output) {
  std::vector<std::vector<std::string>> rows;
  std::map<Kind, std::size_t> counts;
  std::vector<std::string> failed;
  std::string failures;  // no rows: the name may be a config's path
  for (const ReleaseResult& result : results) {
    ++counts[result.kind];
    if (!result.error) {
      rows.push_back(row(result));
      continue;
    }
    failed.push_back(result.tool_name);
    failures += "failed  " + result.tool_name + "\n";
    context.console.error(*result.error);
  }
  context.console.report(text_table(rows) + failures +
                         fmt::format("built {}, up to date {}, failed {}; RPMs in {}\n",
                                     counts[Kind::kBuilt], counts[Kind::kUpToDate],
                                     counts[Kind::kFailed], (output / "RPMS").string()) +
                         install_command(results, output / "RPMS"));
  if (failed.empty()) return {};
  return fail(Error(fmt::format("{} of {} models failed: {}", failed.size(), results.size(),
                                join(failed, ", "))));
}

Status release(const Options& options, Context& context) {
  const Path output = context.absolute(options.output_directory);
  ReleaseOptions release;
  release.directory = output;
  release.tool = context.environment.program;
  TFAOT_TRY(check_release_paths(release));
  TFAOT_TRY(check_output_folder(context.files, "--output-directory", output));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  for (const char* const folder : {".", "SPECS", "SOURCES", "RPMS"}) {
    TFAOT_TRY(context.files.remove_half_written(output / folder));
  }
  Preparation preparation(options, context, output);
  TFAOT_TRY(preparation.run(work.path()));
  const std::size_t cores = options.jobs == 0 ? context.environment.cores : options.jobs;
  const std::size_t models = std::clamp<std::size_t>(preparation.jobs.size(), 1, cores);
  release.work_directory = work.path();
  release.jobs = static_cast<unsigned>(models);
  release.compile_jobs = static_cast<unsigned>(cores / models);
  TFAOT_ASSIGN(std::vector<ReleaseResult> results,
               build_release(context.files, preparation.jobs, release, context.console));
  std::ranges::move(preparation.failed, std::back_inserter(results));
  return report(context, results, output);
}

}  // namespace

Action add_release(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("CONFIG", options->configs,
                 "the models' configs; with --source, their paths in\nthe archive")
      ->required()
      ->option_text(" ");
  app.add_option("-o,--output-directory", options->output_directory,
                 "where SPECS, SOURCES and RPMS go; made when missing")
      ->required()
      ->option_text("DIR (required)");
  app.add_option("--source", options->source, "a tar that holds all configs and models")
      ->option_text("ARCHIVE");
  app.add_option("--license", options->license, "of the models [unspecified]")->option_text("TEXT");
  app.add_option("-j,--jobs", options->jobs, "processes at the same time [one per core]")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  options->verbosity.add_to(app);
  app.footer(
      "Builds by rpmbuild what changed since the last time: RPMS/TOOL.json tells what an RPM was "
      "made from.\n"
      "A model that fails does not keep the others from being built; its last RPM stays.\n"
      "Example:\n"
      "  tfaot release models/*/aot_config.yaml -o release");
  return [options](Context& context) {
    options->verbosity.apply(context.console);
    return release(*options, context);
  };
}

}  // namespace tfaot::toolkit
