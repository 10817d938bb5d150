// SPDX-License-Identifier: Apache-2.0
// Writes a module after each step of ours into a dump folder, next to what XLA writes there. Used
// by one thread.
#pragma once

#include <string>

#include "compiler/code/optimize.h"
#include "tfaot/base/file_system.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit::engine {

class StepDump {
 public:
  // An empty folder: nothing is written. `passes`: also after each pass.
  StepDump(FileSystem& fs, std::string folder, bool passes)
      : fs_(fs), folder_(std::move(folder)), passes_(passes) {}

  bool is_wanted() const { return !folder_.empty(); }
  // Empty if nothing is written. The dump must outlive it.
  StepViewer viewer();
  // "tfaot.0003.kernel_calls.hlo.pb", an xla::HloProto
  Status add(const std::string& step, const xla::HloModuleProto& module);
  Status add(const DumpFacts& facts);

 private:
  FileSystem& fs_;
  Path folder_;
  bool passes_;
  int steps_ = 0;
};

}  // namespace tfaot::toolkit::engine
