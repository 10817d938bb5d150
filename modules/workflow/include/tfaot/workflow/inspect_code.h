// SPDX-License-Identifier: Apache-2.0
// What compiling made of a model, step by step: what `tfaot inspect` shows. A config is compiled
// into a folder that is removed; of a package, its record and its objects are read; a dump folder
// is one that XLA, or an earlier call with `dump_directory`, has written. Starts the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/inspect/buffer_map.h"
#include "tfaot/inspect/code_listing.h"
#include "tfaot/records/hlo_graph.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

struct InspectRequest {
  Path path;  ///< absolute
  /// Of a config, any size; otherwise one that the package has. Nothing: a config's largest, or the
  /// package's smallest, whose HLO it keeps.
  std::optional<std::int64_t> batch_size;
  std::string cpu_level;                ///< empty: the highest
  std::vector<std::string> dimensions;  ///< as ConfigOverrides::dimensions
  bool without_flags = false;           ///< of a config: as if it had no flags for the compiler
  bool flag_effects = false;            ///< of a config: compile without each flag, too
  bool passes = false;                  ///< of a config: after each of XLA's passes, too
  std::string module;                   ///< of a dump; empty: the largest
  Path dump_directory;  ///< of a config: where the steps' files are kept; empty: nowhere
  EngineRun engine;
  bool allow_large = false;  ///< of an archive
};

enum class InspectedKind { kConfig, kPackage, kDump };
template <>
inline constexpr auto kWords<InspectedKind> = std::to_array<Word<InspectedKind>>({
    {InspectedKind::kConfig, "config"},
    {InspectedKind::kPackage, "package"},
    {InspectedKind::kDump, "dump"},
});

/// What the code would be without one of the config's flags for the compiler.
struct FlagEffect {
  std::string variable;  ///< "XLA_FLAGS"
  std::string flag;
  bool same_code = false;  ///< the object is the same in every byte
  std::string problem;     ///< without the flag, compiling fails: the message
  std::int64_t instructions = 0;
  std::int64_t picoseconds = 0;
  std::uint64_t code_bytes = 0;
};

/// Lists are empty, and numbers 0, for what is not known.
struct InspectedCode {
  InspectedKind kind = InspectedKind::kConfig;
  std::string name;    ///< "tagger 1.0.0", or the module of a dump
  std::string engine;  ///< "tensorflow 2.18.1"
  std::int64_t batch_size = 0;
  std::string cpu_level;
  std::uint64_t picoseconds = 0;  ///< estimated, of a call with the runtime's part
  std::vector<HloGraph>
      stages;         ///< in the order of the work; those that change nothing are left out
  BufferMap buffers;  ///< of a package: sizes only
  std::vector<WeightOrigin> weights;
  std::vector<std::string> kernels;  ///< symbols of the runtime that the object calls, sorted
  std::uint64_t code_bytes = 0;      ///< of the object
  std::string code_sha256;           ///< the same
  CodeListing first_llvm;            ///< before LLVM's optimisation
  CodeListing llvm;
  CodeListing assembly;
  std::vector<FlagEffect> flags;
  std::vector<std::string> other_modules;  ///< of a dump
  std::vector<std::string> remarks;        ///< why something is missing
};

/// Error: the path leads to something else, it has no code of this size and level, or the model
/// cannot be compiled.
Result<InspectedCode> inspect_code(Context& context, const InspectRequest& request);

}  // namespace tfaot::toolkit
