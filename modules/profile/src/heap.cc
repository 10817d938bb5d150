// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::int64_t kHeapCalls = 1;  // timed ones; some more come before

ProcessSpec reading_of_heaptrack(const Path& recorded, const Path& massif) {
  ProcessSpec print;
  print.program = "heaptrack_print";
  print.arguments = split_words(
      "--massif-detailed-freq 0 --print-peaks 0 --print-allocators 0 --print-temporary 0");
  print.arguments.insert(print.arguments.end(),
                         {"--file", recorded.string(), "--print-massif", massif.string()});
  return print;
}

// "peak heap memory consumption: 170.56K": the moments of the file that it makes are further apart.
std::int64_t peak_in(const std::string& said) {
  constexpr std::string_view kStart = "peak heap memory consumption: ";
  constexpr std::string_view kUnits = "BKMGT";
  for (const std::string& line : split_lines(said)) {
    if (!line.starts_with(kStart)) continue;
    char* end = nullptr;
    double bytes = std::strtod(line.c_str() + kStart.size(), &end);
    const std::size_t unit = kUnits.find(*end);
    for (std::size_t i = 0; unit != std::string_view::npos && i < unit; ++i) bytes *= 1000;
    return static_cast<std::int64_t>(bytes);
  }
  return -1;
}

// What the tool runs, and below what.
RunnerSpec watched(const HeapRequest& request, const Path& output) {
  RunnerSpec spec = request.runner;
  if (request.tool == HeapTool::kMassif) {
    // Who asked is not shown, so its callers need not be found.
    spec.under = split_words(
        "valgrind -q --vgdb=no --run-libc-freeres=no --run-cxx-freeres=no --tool=massif "
        "--time-unit=ms --peak-inaccuracy=0.0 --depth=1");
    spec.under.push_back("--massif-out-file=" + output.string());
  } else {
    spec.under = {"heaptrack", "-o", output.string()};
    spec.environment["QT_QPA_PLATFORM"] = "none";  // else it opens its window at the end
  }
  return spec;
}

Result<ProfiledHeap> read_recorded(const FileSystem& files, const HeapRequest& request,
                                   const Path& output) {
  if (request.tool == HeapTool::kMassif) {
    TFAOT_ASSIGN(const std::string text, files.read(output));
    return read_massif(text, output.string());
  }
  Path recorded = output.string() + ".zst";
  if (!is_file(files, recorded)) recorded = output.string() + ".gz";
  const Path massif = output.string() + ".massif";
  ProcessSpec print = reading_of_heaptrack(recorded, massif);
  print.timeout = request.runner.timeout;
  print.memory = request.runner.memory;
  TFAOT_ASSIGN(const ProcessResult printed, run_process(print));
  if (!printed.ok()) {
    return fail(with_last_words(Error("heaptrack_print cannot read its file"), printed));
  }
  TFAOT_ASSIGN(const std::string text, files.read(massif));
  TFAOT_ASSIGN(ProfiledHeap heap, read_massif(text, massif.string()));
  heap.peak = std::max(heap.peak, peak_in(printed.standard_output));
  return heap;
}

Result<ProfiledHeap> run_watched(const FileSystem& files, const HeapRequest& request,
                                 const Path& output) {
  TFAOT_ASSIGN(const auto runner, RunnerProcess::start(files, watched(request, output)));
  for (const std::int64_t rows : request.rows) {
    TFAOT_TRY(runner->prepare(rows));
    TFAOT_TRY(runner->time(kHeapCalls));
  }
  TFAOT_TRY(runner->finish());
  return read_recorded(files, request, output);
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto read = parse_number<Number>(text);
  if (read) number = *read;
  return read && number >= 0;
}

}  // namespace

Status check_heap_tool(HeapTool tool) {
  const bool is_massif = tool == HeapTool::kMassif;
  const std::vector<std::string> programs =
      is_massif ? std::vector<std::string>{"valgrind"}
                : std::vector<std::string>{"heaptrack", "heaptrack_print"};
  for (const std::string& program : programs) {
    ProcessSpec version;
    version.program = program;
    version.arguments = {"--version"};
    const MissingTool missing = {
        fmt::format("'{}', by which --heap {} measures, cannot be started", program, word_of(tool)),
        fmt::format("install it (Debian: {})", programs.front())};
    TFAOT_ASSIGN(const ProcessResult result, run_tool(version, missing));
    if (result.ok()) continue;
    return fail(with_last_words(Error(missing.what), result).note(missing.advice));
  }
  return {};
}

Result<ProfiledHeap> measure_heap(const FileSystem& files, const HeapRequest& request) {
  if (request.cpu_levels.empty()) return run_watched(files, request, request.folder / "heap");
  std::optional<Error> why;
  for (const std::string& level : request.cpu_levels) {
    HeapRequest one = request;
    std::erase_if(one.runner.settings,
                  [](const std::string& setting) { return setting.starts_with("cpu_level="); });
    one.runner.settings.push_back("cpu_level=" + level);
    Result<ProfiledHeap> heap = run_watched(files, one, request.folder / ("heap-" + level));
    if (heap) heap->cpu_level = level;
    if (heap) return heap;
    TFAOT_TRY(check_interrupts());
    if (!why) why = std::move(heap).error();
  }
  return fail(*std::move(why));
}

// "time_unit: ms", and for each snapshot "snapshot=N", "time=12", "mem_heap_B=345", other figures,
// and the tree of callers, whose lines have blanks or "n" in front.
Result<ProfiledHeap> read_massif(const std::string& text, const std::string& where) {
  ProfiledHeap heap;
  double unit = 1000;  // as heaptrack_print means, which writes none
  int line_number = 0;
  const auto failed = [&](const std::string& line) {
    return fail(Error::at({where, line_number}, "not what massif writes: '" + line + "'"));
  };
  bool in_snapshot = false;
  HeapMoment moment;
  for (const std::string& line : split_lines(text)) {
    ++line_number;
    const std::string value = line.substr(std::min(line.size(), line.find_first_of("=:") + 1));
    if (line.starts_with("time_unit:")) {
      unit = trim(value) == "ms" ? 1 : trim(value) == "s" ? 1000 : 0;
      if (unit == 0) return failed(line);
    } else if (line.starts_with("snapshot=")) {
      in_snapshot = true;
    } else if (in_snapshot && line.starts_with("time=")) {
      if (!read_number(value, moment.ms)) return failed(line);
      moment.ms *= unit;
    } else if (in_snapshot && line.starts_with("mem_heap_B=")) {
      if (!read_number(value, moment.bytes)) return failed(line);
      heap.peak = std::max(heap.peak, moment.bytes);
      heap.over_time.push_back(moment);
    }
  }
  if (!heap.over_time.empty()) return heap;
  return fail(Error::at({where}, "not what massif writes: it holds no snapshot"));
}

}  // namespace tfaot::toolkit
