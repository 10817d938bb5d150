// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/program_start.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

// Whether it is true in a process of its own.
bool holds_in_a_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(StartProgram, OpensWhatWasClosed) {
  for (const int closed : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    EXPECT_TRUE(holds_in_a_child([closed] {
      const int next = ::dup(STDIN_FILENO);
      ::close(next);
      ::close(closed);
      if (closed == STDIN_FILENO) ::close(STDERR_FILENO);
      start_program();
      for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) < 0) return false;
      }
      return ::dup(STDIN_FILENO) == next;  // none is left open
    })) << closed;
  }
}

TEST(StartProgram, WritingToAClosedOutputFails) {
  EXPECT_TRUE(holds_in_a_child([] {
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    start_program();
    return ::write(STDOUT_FILENO, "x", 1) < 0 && errno == EBADF &&
           ::write(STDERR_FILENO, "x", 1) == 1;
  }));
}

TEST(StartProgram, MakesAFileThatIsTooLargeAnError) {
  const TemporaryFolder folder;
  EXPECT_TRUE(holds_in_a_child([&folder] {
    start_program();
    const rlimit limit{100, 100};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    return !RealFileSystem().replace_atomically(folder.path() / "file", std::string(200, 'x'));
  }));
  EXPECT_TRUE(RealFileSystem().list(folder.path()).value().empty());
}

}  // namespace
}  // namespace tfaot::toolkit::testing
