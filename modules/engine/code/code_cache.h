// SPDX-License-Identifier: Apache-2.0
// Code under a hash of everything it is made from: the HLO, the CPU level, the target, the compiler
// and its flags, and our calling convention. The key contains no name of a model, so models of
// equal architecture share code. Used by one thread.
#pragma once

#include <optional>
#include <string>

#include "code/object_code.h"
#include "tfaot/base/file_cache.h"

namespace tfaot::toolkit::engine {

class CodeCache {
 public:
  // Finds nothing and keeps nothing if the job names no cache. `fs` must outlive it.
  CodeCache(FileSystem& fs, const EngineJob& job);

  // `hlo`: hlo_sha256() of the computation.
  std::optional<ObjectCode> find(const std::string& hlo, const JobLevel& level);
  // Report an Error as a note: code that is not kept is compiled again next time.
  Status keep(const std::string& hlo, const JobLevel& level, const ObjectCode& code);

 private:
  std::string key(const std::string& hlo, const JobLevel& level) const;

  std::optional<FileCache> files_;
  std::string common_;  // what the keys of all levels have in common
};

}  // namespace tfaot::toolkit::engine
