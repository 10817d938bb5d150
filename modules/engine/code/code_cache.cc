// SPDX-License-Identifier: Apache-2.0
#include "code/code_cache.h"

#include <fmt/format.h>

#include "tensorflow/core/public/version.h"
#include "tfaot/base/hash.h"
#include "tfaot/records/compiled_model_json.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr const char* kBuffers = "buffers";
constexpr const char* kResultSlot = "result_slot";

// An entry: a line of JSON, then the object. An entry of another form comes from a defect of tfaot,
// and is made again.
std::optional<ObjectCode> code_from(const std::string& entry) {
  const auto line_end = entry.find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  const auto json = parse_json(entry.substr(0, line_end), "");
  if (!json) return std::nullopt;
  const JsonReader head(*json, "");
  auto buffers = head.member(kBuffers).and_then(read_value<std::vector<BufferSlot>>);
  const auto result_slot = head.member(kResultSlot).and_then(read_value<std::uint32_t>);
  if (!buffers || !result_slot) return std::nullopt;
  return ObjectCode{.bytes = entry.substr(line_end + 1),
                    .buffers = std::move(*buffers),
                    .result_slot = *result_slot};
}

}  // namespace

CodeCache::CodeCache(FileSystem& fs, const EngineJob& job) {
  if (!job.cache_directory.empty()) files_.emplace(fs, job.cache_directory);
  // TFAOT_CODE_VERSION: the hash of our sources that make code from HLO (CMakeLists.txt).
  common_ = fmt::format("{}\ntensorflow {}\n{}\n{}\n", TFAOT_CODE_VERSION, TF_VERSION_STRING,
                        job.target_triple, job.compiler_flags);
}

std::string CodeCache::key(const std::string& hlo, const JobLevel& level) const {
  return sha256_of(fmt::format("{}{}\n{}\n{}\n{}\n{}\n", common_, level.name, level.cpu,
                               level.features, level.kernels, hlo));
}

std::optional<ObjectCode> CodeCache::find(const std::string& hlo, const JobLevel& level) {
  if (!files_) return std::nullopt;
  const auto entry = files_->get(key(hlo, level));
  return entry ? code_from(*entry) : std::nullopt;
}

Status CodeCache::keep(const std::string& hlo, const JobLevel& level, const ObjectCode& code) {
  if (!files_) return {};
  const std::string head =
      json_line({{kBuffers, json_of(code.buffers)}, {kResultSlot, code.result_slot}});
  return files_->put(key(hlo, level), head + code.bytes);
}

}  // namespace tfaot::toolkit::engine
