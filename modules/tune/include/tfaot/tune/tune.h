// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a call for each batch size at each CPU level. It builds a program from the
// package's code with the machine's C++ compiler and runs it as often as needed. Writes only to the
// work folder. Two tunings at the same time disturb each other.
#pragma once

#include <chrono>
#include <string>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

struct TuneOptions {
  Path tree;            // the package tree, verified
  Path work_directory;  // must exist; the caller removes it
  std::string program;  // source text of the measuring program, measuring_program()
  std::string compiler = "c++";
  std::string machine;  // its architecture, "x86_64"
  std::chrono::milliseconds budget{
      10000};               // for measuring; every size is measured a few times anyway
  double precision = 0.01;  // stop when every interval is within this share of its median
};

Result<Tuning> tune_package(FileSystem& fs, const Manifest& manifest, const TuneOptions& options,
                            Diagnostics& diagnostics);

// "AMD EPYC 9B45", or another name that the machine gives; "unknown" if it gives none.
std::string cpu_name(const FileSystem& fs);

}  // namespace tfaot::toolkit
