// SPDX-License-Identifier: Apache-2.0
#include "code/code_cache.h"

#include <fmt/format.h>

#include "tensorflow/core/public/version.h"
#include "tfaot/base/hash.h"
#include "tfaot/compile/compile_json.h"

namespace tfaot::toolkit::engine {
namespace {

// An entry: a line of JSON, then the object. No member may throw: an entry that is not as expected
// was written by a defect of ours, and is made anew.
std::optional<ObjectCode> code_from(const std::string& entry) {
  const auto line_end = entry.find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  const auto json = nlohmann::json::parse(entry.substr(0, line_end), nullptr, false);
  try {
    ObjectCode code;
    json.at("buffers").get_to(code.buffers);
    json.at("result_slot").get_to(code.result_slot);
    code.bytes = entry.substr(line_end + 1);
    return code;
  } catch (const std::exception&) {
    return std::nullopt;
  }
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
  const nlohmann::json head = {{"buffers", code.buffers}, {"result_slot", code.result_slot}};
  return files_->put(key(hlo, level), head.dump() + "\n" + code.bytes);
}

}  // namespace tfaot::toolkit::engine
