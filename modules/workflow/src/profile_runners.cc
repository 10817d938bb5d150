// SPDX-License-Identifier: Apache-2.0
#include "profile_runners.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "tfaot/base/interrupts.h"
#include "tfaot/profile/quantiles.h"

namespace tfaot::toolkit {
namespace {

constexpr int kStarts = 3;
constexpr std::int64_t kAllocationCalls = 16;

// Lines of an engine's log: "INFO: [file.cc:54] text", "I0000 00:00:17954 file.cc:401] text".
bool is_log_line(const std::string& line) {
  static const std::regex log(R"((INFO|WARNING|WARN): .*|[IW]\d{4} [\d:. ]+\S+\] .*)");
  return line.size() < 1000 && std::regex_match(line, log);
}

// What the engine said, without its log and the runner's name.
Error not_started(const ProfiledCurve& curve, const Error& why) {
  const bool is_peer = curve.engine != ProfiledEngine::kPackage;
  Error error = Error::at({curve.source},
                          is_peer ? fmt::format("{} cannot run this model", word_of(curve.engine))
                                  : "cannot be measured");
  const auto says = [](const std::string& note) { return !is_log_line(note); };
  if (!is_peer || std::ranges::none_of(why.notes(), says)) return std::move(error).note(why.text());
  for (const std::string& note : why.notes()) {
    if (says(note)) error.note(note);
  }
  return error;
}

}  // namespace

std::string curve_name(const ProfiledCurve& curve) {
  if (curve.engine != ProfiledEngine::kPackage) {
    return fmt::format("{}, {}", curve.model, word_of(curve.engine));
  }
  return fmt::format("{}, {}, {}", curve.model, curve.cpu_level, word_of(curve.strategy));
}

Status start_runner(const Context& context, Measured& measured) {
  std::vector<double> times;
  for (int i = 0; i < kStarts; ++i) {
    measured.runner.reset();
    auto runner = RunnerProcess::start(context.files, measured.spec);
    TFAOT_TRY(check_interrupts());
    if (!runner) return fail(not_started(measured.curve, runner.error()));
    measured.runner = std::move(runner).value();
    times.push_back(measured.runner->load_time());
  }
  measured.curve.load = band_of(times);
  TFAOT_ASSIGN(const MemoryUse memory, measured.runner->memory());
  measured.curve.resident = memory.resident;
  measured.curve.proportional = memory.proportional;
  return {};
}

// In a process of its own: counting takes time.
Status count_allocations(const Context& context, const Path& counter, Measured& measured) {
  RunnerSpec spec = measured.spec;
  spec.environment["LD_PRELOAD"] = counter.string();
  TFAOT_ASSIGN(const auto runner, RunnerProcess::start(context.files, spec));
  for (ProfiledSize& size : measured.curve.sizes) {
    TFAOT_TRY(runner->prepare(size.rows));
    TFAOT_ASSIGN(const auto counted, runner->allocations(kAllocationCalls));
    if (!counted) continue;
    size.allocations = counted->count / static_cast<double>(kAllocationCalls);
    size.allocated = counted->bytes / static_cast<double>(kAllocationCalls);
  }
  return {};
}

Status watch_heap(Context& context, const HeapFolder& heap, const std::vector<std::string>& levels,
                  Measured& measured) {
  ProfiledCurve& curve = measured.curve;
  HeapRequest request;
  request.tool = heap.tool;
  request.runner = measured.spec;
  request.folder = heap.folder;
  TFAOT_TRY(context.files.create_directories(request.folder));
  for (const ProfiledSize& size : curve.sizes) request.rows.push_back(size.rows);
  if (curve.engine == ProfiledEngine::kPackage) {
    // From its own downwards.
    request.cpu_levels.assign(levels.begin(), std::ranges::find(levels, curve.cpu_level));
    request.cpu_levels.push_back(curve.cpu_level);
    std::ranges::reverse(request.cpu_levels);
  }
  Result<ProfiledHeap> found = measure_heap(context.files, request);
  TFAOT_TRY(check_interrupts());
  if (found) {
    curve.heap = *std::move(found);
  } else {
    context.diagnostics.warning(fmt::format("{}: its heap cannot be measured by {}: {}",
                                            curve_name(curve), word_of(heap.tool),
                                            found.error().text()));
  }
  return {};
}

}  // namespace tfaot::toolkit
