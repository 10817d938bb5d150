// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/machine.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// Above this share, differences of some per cent between two engines mean nothing.
constexpr double kMuchNoise = 0.03;
// Below this share of a core, wall time is not the engine's.
constexpr double kLittleOfACore = 0.97;

std::string first_line(const FileSystem& files, const Path& file) {
  const auto text = files.read(file);
  return text ? trim(text->substr(0, text->find('\n'))) : "";
}

double number_in(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

// Of the core, from the line "cpu MHz".
double mhz_in_cpuinfo(const FileSystem& files, std::int64_t core) {
  const auto text = files.read("/proc/cpuinfo");
  if (!text) return 0;
  std::int64_t processor = -1;
  for (const std::string& line : split_lines(*text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trim(line.substr(0, colon));
    const std::string value = line.substr(colon + 1);
    if (key == "processor") processor = static_cast<std::int64_t>(number_in(value));
    if (key == "cpu MHz" && processor == core) return number_in(value);
  }
  return 0;
}

}  // namespace

std::vector<std::int64_t> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::int64_t> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

ProfiledMachine describe_machine(const FileSystem& files, std::int64_t cores, std::int64_t core) {
  ProfiledMachine machine;
  machine.cores = cores;
  machine.core = core;
  const Path clock = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq", core);
  machine.governor = first_line(files, clock / "scaling_governor");
  machine.mhz = number_in(first_line(files, clock / "scaling_cur_freq")) / 1000;
  if (machine.mhz == 0) machine.mhz = mhz_in_cpuinfo(files, core);
  machine.load = number_in(first_line(files, "/proc/loadavg"));
  return machine;
}

std::vector<std::string> machine_warnings(const ProfiledMachine& machine) {
  std::vector<std::string> warnings;
  if (machine.noise > kMuchNoise) {
    warnings.push_back(
        fmt::format("the machine is noisy: times of the same work are {:.0f} % apart (16 % to "
                    "84 %), so smaller differences mean nothing",
                    100 * machine.noise));
  }
  if (machine.load > static_cast<double>(machine.cores) / 2) {
    warnings.push_back(
        fmt::format("the machine is busy: {:.1f} processes wanted its {} cores in the last minute",
                    machine.load, machine.cores));
  }
  if (!machine.governor.empty() && machine.governor != "performance") {
    warnings.push_back(
        fmt::format("the clock of core {} changes: its governor is '{}', not 'performance'",
                    machine.core, machine.governor));
  }
  return warnings;
}

std::vector<std::string> busy_warnings(const std::vector<ProfiledCurve>& curves) {
  double least = 1;
  for (const ProfiledCurve& curve : curves) {
    for (const ProfiledSize& size : curve.sizes) least = std::min(least, size.busy);
  }
  if (least >= kLittleOfACore) return {};
  return {
      fmt::format("other processes used the core: an engine had it for {:.0f} % of its time "
                  "only, at worst",
                  100 * least)};
}

}  // namespace tfaot::toolkit
