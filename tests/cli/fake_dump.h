// SPDX-License-Identifier: Apache-2.0
// What the fake engine leaves in a dump folder, and how it reads HLO: any file is the same small
// program, larger with the batch size that its first line may name.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit {

Status write_fake_dump(FileSystem& files, const JobHlo& job, const JobDump& dump);
HloGraph fake_graph(const std::string& stage, std::int64_t batch_size);

Status say_fake_graphs(const FileSystem& files, const HloQuestion& question);

}  // namespace tfaot::toolkit
