// SPDX-License-Identifier: Apache-2.0
// What `tfaot profile` does with one engine of a model, in processes of its own each time: starts
// it, counts its allocations, watches its heap.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/profile/heap.h"
#include "tfaot/profile/runner.h"
#include "tfaot/records/profile.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

// A curve, what measures it, and how.
struct Measured {
  ProfiledCurve curve;
  RunnerSpec spec;
  std::vector<std::string> run_as;              // of each number of rows
  std::vector<std::vector<std::size_t>> calls;  // of a package: the same as compiled sizes
  std::unique_ptr<RunnerProcess> runner;
};

// "tagger, x86-64-v3, padding"
std::string curve_name(const ProfiledCurve& curve);

// Some times, since the time to load is measured; the last one stays.
Status start_runner(const Context& context, Measured& measured);

// For the sizes of the curve. `counter` is the library that is preloaded.
Status count_allocations(const Context& context, const Path& counter, Measured& measured);

// For the sizes of the curve; a warning if it cannot be measured. `levels`: of the package,
// ascending. Error: we were interrupted.
struct HeapFolder {
  HeapTool tool = HeapTool::kMassif;
  Path folder;  // empty, for scratch files
};
Status watch_heap(Context& context, const HeapFolder& heap, const std::vector<std::string>& levels,
                  Measured& measured);

}  // namespace tfaot::toolkit
