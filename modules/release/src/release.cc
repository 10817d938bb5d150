// SPDX-License-Identifier: Apache-2.0
#include "tfaot/release/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <thread>

#include "rpm_build.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/records/rpm_record.h"
#include "tfaot/release/spec.h"

namespace tfaot::toolkit {
namespace {

using Kind = ReleaseResult::Kind;

std::optional<RpmRecord> read_record(const FileSystem& fs, const Path& file) {
  const auto text = fs.read(file);
  return text ? rpm_record_from_json(*text) : std::nullopt;
}

// Why the RPM must be built; empty if it is up to date.
std::string reason(const FileSystem& fs, const std::optional<RpmRecord>& last,
                   const ReleaseJob& job, const Path& rpms) {
  if (!last) return "new";
  if (last->version != job.spec.version) return "its version changed from " + last->version;
  if (last->inputs.source_sha256 != job.inputs.source_sha256) return "its model or config changed";
  if (last->inputs.toolkit_sha256 != job.inputs.toolkit_sha256) return "tfaot changed";
  if (last->inputs.spec_sha256 != job.inputs.spec_sha256) return "its spec file changed";
  const auto sha256 = sha256_of_file(fs, rpms / last->rpm);
  if (!sha256) return "its RPM is missing";
  return *sha256 == last->rpm_sha256 ? "" : "its RPM is damaged";
}

// The highest release of this version among the files of the folder, 0 if there is none.
unsigned highest_release(const std::vector<std::string>& files, const ReleaseJob& job) {
  const std::string begin =
      fmt::format("{}-{}-", job.spec.tool_name, rpm_version(job.spec.version));
  unsigned highest = 0;
  for (auto name = std::lower_bound(files.begin(), files.end(), begin);
       name != files.end() && name->starts_with(begin); ++name) {
    unsigned release = 0;
    const char* const end = name->data() + name->size();
    const auto number = std::from_chars(name->data() + begin.size(), end, release);
    if (number.ptr != end && *number.ptr == '.') highest = std::max(highest, release);
  }
  return highest;
}

// rpm upgrades only to a higher release of the same version, so the number is above all earlier
// ones, even if another version was built in between. Building again from the same inputs gives the
// same RPM.
unsigned release_number(const std::vector<std::string>& files, const std::optional<RpmRecord>& last,
                        const ReleaseJob& job) {
  const unsigned highest = highest_release(files, job);
  if (!last || last->version != job.spec.version) return highest + 1;
  const ReleaseInputs& then = last->inputs;
  const ReleaseInputs& now = job.inputs;
  const bool same = then.source_sha256 == now.source_sha256 &&
                    then.spec_sha256 == now.spec_sha256 &&
                    then.toolkit_sha256 == now.toolkit_sha256;
  return same ? last->release : std::max(highest, last->release) + 1;
}

// Shared by the threads.
struct SharedProgress {
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::optional<Error> stopped;  // nothing more can be built
};

class Builder {
 public:
  Builder(FileSystem& fs, const std::vector<ReleaseJob>& jobs, const ReleaseOptions& options,
          Diagnostics& diagnostics)
      : fs_(fs),
        jobs_(jobs),
        options_(options),
        diagnostics_(diagnostics),
        files_(fs.list(options.directory / "RPMS").value_or(std::vector<std::string>())),
        results_(jobs.size()) {}

  Result<std::vector<ReleaseResult>> run() {
    std::vector<std::thread> threads;
    const std::size_t count =
        std::clamp<std::size_t>(options_.jobs, 1, std::max<std::size_t>(1, jobs_.size()));
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (progress_.stopped) return fail(*std::move(progress_.stopped));
    return std::move(results_);
  }

 private:
  void work() {
    for (std::size_t i = progress_.next++; i < jobs_.size(); i = progress_.next++) {
      auto result = make(jobs_[i]);
      const std::scoped_lock lock(progress_.mutex);
      if (!result) {
        progress_.stopped = std::move(result).error();
        progress_.next = jobs_.size();
        return;
      }
      results_[i] = *std::move(result);
      diagnostics_.progress(++progress_.done, jobs_.size(), step(results_[i]));
    }
  }

  static std::string step(const ReleaseResult& result) {
    const char* const word = result.kind == Kind::kBuilt      ? "built"
                             : result.kind == Kind::kUpToDate ? "up to date"
                                                              : "failed";
    return fmt::format("{} {}", result.tool_name, word);
  }

  Result<ReleaseResult> make(const ReleaseJob& job) {
    const Path rpms = options_.directory / "RPMS";
    const Path record_file = rpms / (job.spec.tool_name + ".json");
    const auto last = read_record(fs_, record_file);
    ReleaseResult result;
    result.tool_name = job.spec.tool_name;
    result.why = reason(fs_, last, job, rpms);
    if (result.why.empty()) {
      result.kind = Kind::kUpToDate;
      result.rpm = *last;
      return result;
    }
    result.rpm = {job.spec.tool_name, job.spec.version, release_number(files_, last, job), {}, {},
                  job.inputs};
    const Path work = options_.work_directory / job.spec.tool_name;
    TFAOT_ASSIGN(RpmBuilt built, build_rpm(fs_,
                                           {.tool_name = job.spec.tool_name,
                                            .version = job.spec.version,
                                            .processor = job.spec.processor,
                                            .release = result.rpm.release,
                                            .work = work},
                                           options_));
    if (!built.error) {
      if (Status kept = keep(built.rpm, record_file, result.rpm); !kept) {
        TFAOT_TRY(check_interrupts());
        built.error = std::move(kept).error();
      }
    }
    if (const Status removed = fs_.remove_all(work); !removed) {
      diagnostics_.warning(removed.error().text());
    }
    result.kind = built.error ? Kind::kFailed : Kind::kBuilt;
    result.error = std::move(built.error);
    return result;
  }

  // Puts the RPM into place in one step, then its record: after a kill in between, it is built once
  // more.
  Status keep(const Path& built, const Path& record_file, RpmRecord& record) {
    record.rpm = built.filename().string();
    TFAOT_ASSIGN(record.rpm_sha256, sha256_of_file(fs_, built));
    TFAOT_TRY(fs_.create_directories(record_file.parent_path()));
    TFAOT_TRY(check_interrupts());
    const DespiteInterrupts commit;  // the two belong together
    TFAOT_TRY(fs_.rename(built, record_file.parent_path() / record.rpm));
    return fs_.replace_atomically(record_file, rpm_record_to_json(record));
  }

  FileSystem& fs_;
  const std::vector<ReleaseJob>& jobs_;
  const ReleaseOptions& options_;
  Diagnostics& diagnostics_;
  const std::vector<std::string> files_;  // of RPMS, before anything is built
  std::vector<ReleaseResult> results_;
  SharedProgress progress_;
};

}  // namespace

Result<std::vector<ReleaseResult>> build_release(FileSystem& fs,
                                                 const std::vector<ReleaseJob>& jobs,
                                                 const ReleaseOptions& options,
                                                 Diagnostics& diagnostics) {
  return Builder(fs, jobs, options, diagnostics).run();
}

}  // namespace tfaot::toolkit
