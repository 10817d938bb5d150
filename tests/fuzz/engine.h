// SPDX-License-Identifier: Apache-2.0
// Reads a model as the engine does, up to its lowering to HLO.
#pragma once

#include <fstream>
#include <string>

#include "front/load_model.h"
#include "tests/support/temporary_folder.h"

namespace tfaot::toolkit {

// `name`: of the model's file, whose ending says its format.
inline void read_model(const std::string& bytes, JobModel job, const std::string& name) {
  static const testing::TemporaryFolder folder("tfaot-fuzz-XXXXXX");
  job.source = (folder.path() / name).string();
  std::ofstream(job.source, std::ios::binary | std::ios::trunc) << bytes;
  const auto model = engine::load_model(job);
  if (!model || !(*model)->prepare()) return;
  static_cast<void>((*model)->operations());
  static_cast<void>((*model)->operation_counts());
  static_cast<void>((*model)->variables());
  const auto lowering = (*model)->lowering({});
  if (!lowering) return;
  for (const engine::RawWeight& weight : (*lowering)->weights()) static_cast<void>(weight.read());
}

}  // namespace tfaot::toolkit
