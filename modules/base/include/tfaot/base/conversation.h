// SPDX-License-Identifier: Apache-2.0
// A child process that answers questions, a line for a line, through its standard input and output.
// It gets its own process group, which is killed with the object. An interrupt (interrupts.h) or a
// timeout ends the wait for an answer, and so does too much memory. One thread; the child ends with
// it (program_start.h) if it asks for that.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct ConversationSpec {
  Path program;                                    // looked up in PATH when it holds no '/'
  std::vector<std::string> arguments;              // without the program's own name
  std::map<std::string, std::string> environment;  // added to, or replacing, the parent's
  std::chrono::milliseconds timeout{0};            // of each answer; 0: none
  std::shared_ptr<MemoryBudget> memory;            // looked at during an answer; null: any
};

class Conversation {
 public:
  // Error: the child cannot be started.
  static Result<Conversation> start(const ConversationSpec& spec);
  Conversation(Conversation&&) noexcept;
  Conversation& operator=(Conversation&&) noexcept;
  ~Conversation();

  // The child's next line, without its newline. Error, with the last lines of its standard error:
  // it ended, or took too long; or we were interrupted.
  Result<std::string> hear();
  // Says one line, which holds no newline, and returns the answer.
  Result<std::string> ask(const std::string& line);
  // Says that there are no more questions, and waits until the child has ended; what it still says
  // is dropped. Error: it took too long, or we were interrupted. REQUIRES: nothing is asked after.
  Status finish();

  pid_t process() const;

 private:
  struct Child;
  explicit Conversation(std::unique_ptr<Child> child);
  std::unique_ptr<Child> child_;
};

}  // namespace tfaot::toolkit
