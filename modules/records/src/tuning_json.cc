// SPDX-License-Identifier: Apache-2.0
#include "tuning_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "manifest_rules.h"

namespace tfaot::toolkit {
namespace {

Result<double> read_time(const JsonReader& json) {
  TFAOT_ASSIGN(const double time, json.real());
  if (time > 0 && time < 1e15) return time;
  return json.failed("expected nanoseconds above 0");
}

Result<std::uint32_t> read_permille(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t share, json.number());
  if (share >= 0 && share <= 1000) return static_cast<std::uint32_t>(share);
  return json.failed("expected thousandths");
}

Result<TunedCall> read_call(const JsonReader& json) {
  TunedCall call;
  TFAOT_ASSIGN(call.batch_size, json.member("batch_size").and_then(&JsonReader::number));
  TFAOT_ASSIGN(call.cpu_level, json.member("cpu_level").and_then(&JsonReader::text));
  TFAOT_ASSIGN(call.ns, json.member("ns").and_then(read_time));
  TFAOT_ASSIGN(call.low, json.member("low").and_then(read_time));
  TFAOT_ASSIGN(call.high, json.member("high").and_then(read_time));
  TFAOT_ASSIGN(call.repeats, json.member("repeats").and_then(read_size));
  if (json.has("live_permille")) {
    TFAOT_ASSIGN(call.live_permille, json.member("live_permille").and_then(read_permille));
  }
  if (call.low <= call.ns && call.ns <= call.high) return call;
  return json.failed("the interval from 'low' to 'high' does not hold 'ns'");
}

template <class T>
bool holds(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

Result<Tuning> read_tuning(const JsonReader& json) {
  Tuning tuning;
  TFAOT_ASSIGN(tuning.cpu, json.member("cpu").and_then(&JsonReader::text));
  TFAOT_ASSIGN(const JsonReader calls, json.member("calls"));
  TFAOT_ASSIGN(tuning.calls, calls.list(read_call));
  return tuning;
}

Status check_tuning(const JsonReader& json, const Manifest& manifest) {
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const TunedCall& call : manifest.tuning->calls) {
    const std::string what =
        fmt::format("tuning: batch size {}, CPU level {}", call.batch_size, call.cpu_level);
    if (!holds(manifest.batch_sizes, call.batch_size) ||
        !holds(manifest.cpu_levels, call.cpu_level)) {
      return json.failed(what + " is not in the package");
    }
    if (!seen.emplace(call.batch_size, call.cpu_level).second) {
      return json.failed(what + " is listed twice");
    }
  }
  return {};
}

}  // namespace tfaot::toolkit
