// SPDX-License-Identifier: Apache-2.0
// Optimized HLO + CPU level -> object file bytes and their buffer table. Position independent.
// Used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/code/optimize.h"
#include "tfaot/base/file_cache.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/counted_code.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/remote/remote_cache.h"

namespace tfaot::toolkit::engine {

struct ObjectCode {
  std::string bytes;  // ELF relocatable
  std::vector<BufferSlot> buffers;
  std::uint32_t result_slot = 0;
  CountedCode counted = {};  // of code that counts; without batch size and level
};

enum class Counting { kNone, kOperations };

// XLA writes the dump; see its flag --xla_dump_to.
//
// The index of a weight's slot is its position in model.weights. The entry's symbol is
// kNeutralEntrySymbol (records/symbols.h).
Result<ObjectCode> make_object_code(const OptimizedModel& model, const JobLevel& level,
                                    const std::string& target_triple, Counting counting,
                                    const JobDump& dump = {});

// Code under a hash of everything it is made from: the HLO, the CPU level, the target, the compiler
// and its flags, and our calling convention. The key contains no name of a model, so models of
// equal architecture share code. In a folder, and on a server whose entries come into the folder.
class CodeCache {
 public:
  // Finds nothing and keeps nothing if the job names no cache. `warn` is told what is wrong with
  // the server. `fs` must outlive it.
  CodeCache(FileSystem& fs, const CompileJob& job, RemoteCache::Warn warn);

  // `hlo`: hlo_sha256() of the computation.
  std::optional<ObjectCode> find(const std::string& hlo, const JobLevel& level);
  // Report an Error as a note: code that is not in the folder is compiled again next time.
  Status keep(const std::string& hlo, const JobLevel& level, const ObjectCode& code);
  // The bytes that both of these added to the folder.
  std::uint64_t added() const { return added_; }

 private:
  std::string key(const std::string& hlo, const JobLevel& level) const;
  Status put_file(const std::string& key, const std::string& entry);

  std::optional<FileCache> files_;
  RemoteCache remote_;
  std::uint64_t added_ = 0;
  std::string common_;  // what the keys of all levels have in common
};

}  // namespace tfaot::toolkit::engine
