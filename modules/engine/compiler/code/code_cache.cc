// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/code_cache.h"

#include <fmt/format.h>

#include "code_version.h"
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

CodeCache::CodeCache(FileSystem& fs, const EngineJob& job, RemoteCache::Warn warn)
    : remote_(fs, job.remote_cache, std::move(warn)) {
  if (!job.cache_directory.empty()) files_.emplace(fs, job.cache_directory);
  common_ = fmt::format("{}\ntensorflow {}\n{}\n{}\n", TFAOT_CODE_VERSION, TF_VERSION_STRING,
                        job.target_triple, job.compiler_flags);
}

std::string CodeCache::key(const std::string& hlo, const JobLevel& level) const {
  return sha256_of(fmt::format("{}{}\n{}\n{}\n{}\n{}\n", common_, level.name, level.cpu,
                               level.features, level.kernels, hlo));
}

std::optional<ObjectCode> CodeCache::find(const std::string& hlo, const JobLevel& level) {
  const std::string name = key(hlo, level);
  if (files_) {
    if (const auto entry = files_->get(name)) return code_from(*entry);
  }
  const auto entry = remote_.get(name);
  if (!entry) return std::nullopt;
  auto code = code_from(*entry);
  // If it cannot be written, it comes from the server the next time, too.
  if (code) static_cast<void>(put_file(name, *entry));
  return code;
}

Status CodeCache::keep(const std::string& hlo, const JobLevel& level, const ObjectCode& code) {
  const std::string name = key(hlo, level);
  const std::string entry =
      json_line({{kBuffers, json_of(code.buffers)}, {kResultSlot, code.result_slot}}) + code.bytes;
  remote_.put(name, entry);
  return put_file(name, entry);
}

Status CodeCache::put_file(const std::string& key, const std::string& entry) {
  if (!files_) return {};
  TFAOT_TRY(files_->put(key, entry));
  added_ += entry.size();
  return {};
}

}  // namespace tfaot::toolkit::engine
