// SPDX-License-Identifier: Apache-2.0
#include "tfaot/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "size_costs.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

// Makes the measuring program of a package.

constexpr std::chrono::minutes kCompilerTimeout{10};

Status check_machine(const Manifest& manifest, const TuneOptions& options) {
  const std::string processor = processor_of(manifest.architecture);
  if (processor == options.machine) return {};
  return fail(Error::at({options.tree.string()},
                        fmt::format("the package is for '{}', this machine is '{}'", processor,
                                    options.machine))
                  .note("tune it on a machine that can run it"));
}

// The first lines show the cause; a compiler's last lines only say that it failed.
constexpr std::size_t kLinesOfAFailure = 5;

std::vector<std::string> first_errors(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  const auto is_error = [](const std::string& line) {
    return line.find("error:") != std::string::npos ||
           line.find("undefined reference") != std::string::npos;
  };
  const auto error = std::find_if(lines.begin(), lines.end(), is_error);
  const auto first = error == lines.end() ? lines.begin() : error;
  const auto last = lines.end() - first > static_cast<std::ptrdiff_t>(kLinesOfAFailure)
                        ? first + kLinesOfAFailure
                        : lines.end();
  return {first, last};
}

// The executable, in options.work_directory.
Result<Path> build_program(FileSystem& fs, const Manifest& manifest, const TuneOptions& options) {
  TFAOT_TRY(check_machine(manifest, options));
  const Path source = options.work_directory / "measure.cc";
  Path program = options.work_directory / "measure";
  TFAOT_TRY(fs.replace_atomically(source, options.program));

  ProcessSpec compiler;
  compiler.program = options.compiler;
  compiler.timeout = kCompilerTimeout;
  compiler.arguments = {"-std=c++17",   "-O2",
                        "-I",           (options.tree / "include").string(),
                        "-I",           (options.tree / kRuntimeInclude).string(),
                        "-o",           program.string(),
                        source.string()};
  for (const ManifestFile& file : manifest.files) {
    if (is_object_file(file.path)) {
      compiler.arguments.push_back((options.tree / file.path).string());
    }
  }
  compiler.arguments.push_back((options.tree / kRuntimeLibrary).string());
  TFAOT_ASSIGN(const auto built,
               run_tool(compiler, {fmt::format("the C++ compiler '{}', which links the code to "
                                               "measure, cannot be started",
                                               options.compiler),
                                   "install one, such as g++, or name it with --compiler"}));
  if (built.ok()) return program;
  Error error = Error::at({options.tree.string()}, "the program that measures cannot be built");
  for (const std::string& line : first_errors(built.standard_error)) error.note(line);
  return fail(std::move(error));
}

// The program is started again for each slice of the budget: the addresses of its memory and stack
// differ from run to run, and they change timings by some per cent.
constexpr int kSlices = 8;
constexpr int kFewestSlices = 3;
constexpr std::chrono::minutes kSliceTimeout{10};

// From this uncertainty on, a plan based on the costs may be a bad one.
constexpr double kTooUncertain = 0.25;

// By batch size and CPU level: nanoseconds of a call.
using Timings = std::map<std::pair<std::int64_t, std::string>, std::vector<double>>;

Status add_line(const std::string& line, Timings& timings) {
  std::istringstream words(line);
  std::int64_t batch_size = 0;
  std::string level;
  double ns = 0;
  if (!(words >> batch_size >> level >> ns) || !(ns > 0)) {
    return fail(Error::internal(fmt::format("the measuring program wrote '{}'", line)));
  }
  timings[{batch_size, level}].push_back(ns);
  return {};
}

Status run_slice(const Path& program, std::chrono::milliseconds time, Timings& timings) {
  ProcessSpec spec;
  spec.program = program;
  spec.timeout = time + kSliceTimeout;
  spec.arguments = {fmt::format("{:.3f}", std::chrono::duration<double>(time).count())};
  TFAOT_ASSIGN(const ProcessResult run, run_process(spec));
  if (!run.ok()) return fail(with_last_words(Error("the program that measures failed"), run));
  for (const std::string& line : split_lines(run.standard_output)) {
    if (!line.empty()) TFAOT_TRY(add_line(line, timings));
  }
  return {};
}

// Half of the widest interval, as a share of its median.
double uncertainty(const Timings& timings) {
  double widest = 0;
  for (const auto& [code, values] : timings) {
    const Median median = median_of(values);
    widest = std::max(widest, (median.high - median.low) / 2 / median.value);
  }
  return widest;
}

std::string precision_text(double uncertainty) {
  return uncertainty < 1 ? fmt::format("costs are known to {:.1f} %", 100 * uncertainty)
                         : "costs are not known yet: timings vary too much";
}

// To 1/100 ns: more would be noise.
double rounded(double ns) { return std::max(0.01, std::round(ns * 100) / 100); }

}  // namespace

Result<Tuning> tune_package(FileSystem& fs, const Manifest& manifest, const TuneOptions& options,
                            Diagnostics& diagnostics) {
  TFAOT_ASSIGN(const Path program, build_program(fs, manifest, options));
  Timings timings;
  for (int slice = 0; slice < kSlices; ++slice) {
    TFAOT_TRY(run_slice(program, options.budget / kSlices, timings));
    const bool enough = slice + 1 >= kFewestSlices && uncertainty(timings) <= options.precision;
    diagnostics.progress(enough ? kSlices : static_cast<std::size_t>(slice) + 1, kSlices,
                         precision_text(uncertainty(timings)));
    if (enough) break;
  }
  if (timings.empty()) {
    return fail(Error::at({options.tree.string()}, "this CPU cannot run any code of the package")
                    .note("its CPU levels: " + join(manifest.cpu_levels, ", ")));
  }
  if (uncertainty(timings) > kTooUncertain) {
    diagnostics.warning(
        fmt::format("the costs are uncertain: timings of one call vary by {:.0f} % or more; tune "
                    "again when the machine is idle, or with a larger --budget",
                    100 * kTooUncertain));
  }
  Tuning tuning;
  tuning.cpu = cpu_name(fs);
  for (const auto& [code, values] : timings) {
    const Median median = median_of(values);
    tuning.calls.push_back({code.first, code.second, rounded(median.value), rounded(median.low),
                            rounded(median.high), values.size()});
  }
  return tuning;
}

std::string cpu_name(const FileSystem& fs) {
  const auto text = fs.read("/proc/cpuinfo");
  if (!text) return "unknown";
  for (const char* key : {"model name", "Model", "CPU part"}) {
    for (const std::string& line : split_lines(*text)) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos || trim(line.substr(0, colon)) != key) continue;
      return trim(line.substr(colon + 1));
    }
  }
  return "unknown";
}

}  // namespace tfaot::toolkit
