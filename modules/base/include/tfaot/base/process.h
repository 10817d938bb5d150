// SPDX-License-Identifier: Apache-2.0
// Starts a child process and waits for it, never through a shell. The child gets its own process
// group. The whole group is killed on a timeout and when the child ends, so that nothing hangs and
// nothing keeps running. When SIGINT, SIGTERM or SIGHUP reach us (interrupts.h), the group gets
// SIGTERM. It has a few seconds to clean up and to stop what it started in other groups; then it is
// killed. Safe from many threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/memory_budget.h"

namespace tfaot::toolkit {

struct ProcessSpec {
  Path program;                                    // looked up in PATH when it holds no '/'
  std::vector<std::string> arguments;              // without the program's own name
  std::map<std::string, std::string> environment;  // added to, or replacing, the parent's
  std::string standard_input;                      // empty: /dev/null
  Path working_directory;                          // empty: the parent's
  std::chrono::milliseconds timeout{0};            // 0: none
  std::shared_ptr<MemoryBudget> memory;            // null: any
  // Called for each line, without its newline; must not throw.
  std::function<void(const std::string&)> on_stdout_line;
  std::function<void(const std::string&)> on_stderr_line;
};

struct ProcessResult {
  int exit_code = -1;        // valid when signal is 0
  int signal = 0;            // the signal that ended the child, 0 if it ended by itself
  bool timed_out = false;    // then signal is SIGKILL
  bool over_memory = false;  // it needed more than the budget; then signal is SIGKILL
  std::string standard_output;
  std::string standard_error;

  bool ok() const { return signal == 0 && exit_code == 0 && !timed_out; }
};

// Fails only if the child cannot be started, or if we were interrupted (the caller then cleans up
// and ends). A child that fails is a ProcessResult.
Result<ProcessResult> run_process(const ProcessSpec& spec);

// The message for a required program that is missing.
struct MissingTool {
  std::string what;    // "the linker 'ld', which joins objects, cannot be started"
  std::string advice;  // "install it (Debian: binutils)"
};
// run_process() for a program that must be installed on the user's machine.
Result<ProcessResult> run_tool(const ProcessSpec& spec, const MissingTool& missing);

// Adds to an error how the program ended, if it did not exit by itself, and the last lines of its
// output.
Error with_last_words(Error error, const ProcessResult& result, std::size_t lines = 5);

}  // namespace tfaot::toolkit
