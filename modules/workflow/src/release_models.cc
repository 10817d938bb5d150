// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/release_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "spec_files.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/records/names.h"
#include "tfaot/release/release.h"
#include "tfaot/release/spec.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

using Kind = ReleaseResult::Kind;

// Writes the specs and their sources; a faulty model is set aside.
class Preparation {
 public:
  Preparation(const ReleaseRequest& request, Context& context)
      : request_(request), context_(context), output_(request.output_directory) {}

  Status run(const Path& work) {
    work_ = work / "spec";
    if (!request_.source.empty()) {
      unpacked_ = {request_.source, work / "source", {}};
      TFAOT_ASSIGN(unpacked_.paths,
                   unpack_source_archive(context_.files, unpacked_.archive, unpacked_.folder));
    }
    for (const std::string& config : request_.configs) {
      TFAOT_TRY(check_interrupts());
      if (Status prepared = prepare(config); !prepared) {
        TFAOT_TRY(check_interrupts());  // not the model's fault
        failed.push_back({Kind::kFailed, config, "", {}, std::move(prepared).error()});
      }
    }
    return {};
  }

  std::vector<ReleaseJob> jobs;
  std::vector<ReleaseResult> failed;

 private:
  Status prepare(const std::string& config) {
    TFAOT_ASSIGN(const SpecSource source, request_.source.empty()
                                              ? source_of_files(context_, context_.absolute(config))
                                              : source_of_archive(context_, unpacked_, config));
    const SpecWords words{
        .tool_name = "", .license = request_.license, .scram_arch = request_.scram_arch};
    ReleaseJob job{spec_record(source, words, SpecFlavour::kRpm), {}};
    const auto [other, is_new] = configs_.emplace(job.spec.tool_name, config);
    if (!is_new) {
      return fail(
          Error::at({config}, fmt::format("makes {}, like {}", job.spec.tool_name, other->second))
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

  const ReleaseRequest& request_;
  Context& context_;
  const Path& output_;
  Path work_;
  UnpackedArchive unpacked_;
  std::map<std::string, std::string> configs_;   // by tool
  std::map<std::string, std::string> toolkits_;  // hashes, by machine
};

// For each compilation: its share of the memory, since so many run at the same time.
std::string limits_of_compilation(const Context& context, std::size_t models) {
  std::string words;
  if (const auto time = context.limits.time) words = fmt::format("--timeout {} ", time->count());
  const std::uint64_t memory = engine_memory(context)->bytes();
  if (memory > 0) {
    const std::uint64_t share = std::max<std::uint64_t>(memory / models / kMegabyte, 1);
    words += fmt::format("--memory {}", share);
  } else if (context.limits.memory) {
    words += "--memory 0";
  }
  return words;
}

}  // namespace

Result<std::vector<ReleaseResult>> release_models(Context& context, const ReleaseRequest& request) {
  const Path& output = request.output_directory;
  ReleaseOptions release;
  release.directory = output;
  release.tool = context.environment.program;
  TFAOT_TRY(check_release_paths(release));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  for (const char* const folder : {".", "SPECS", "SOURCES", "RPMS"}) {
    TFAOT_TRY(context.files.remove_half_written(output / folder));
  }
  Preparation preparation(request, context);
  TFAOT_TRY(preparation.run(work.path()));
  const std::size_t cores = request.jobs == 0 ? context.environment.cores : request.jobs;
  const std::size_t models = std::clamp<std::size_t>(preparation.jobs.size(), 1, cores);
  release.work_directory = work.path();
  release.jobs = static_cast<unsigned>(models);
  release.compile_jobs = static_cast<unsigned>(cores / models);
  release.limits = limits_of_compilation(context, models);
  TFAOT_ASSIGN(std::vector<ReleaseResult> results,
               build_release(context.files, preparation.jobs, release, context.diagnostics));
  std::ranges::move(preparation.failed, std::back_inserter(results));
  return results;
}

}  // namespace tfaot::toolkit
