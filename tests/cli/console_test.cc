// SPDX-License-Identifier: Apache-2.0
#include "tfaot/cli/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tfaot::toolkit {
namespace {

class ConsoleTest : public ::testing::Test {
 protected:
  void two_steps(Console& console) {
    console.progress(1, 2, "batch size 1");
    console.verbose("detail");
    console.warning("careful");
    console.progress(2, 2, "batch size 2");
    console.report("done\n");
  }
  std::ostringstream out_, err_;
};

TEST_F(ConsoleTest, PlainLines) {
  Console console({out_, err_, false});
  two_steps(console);
  EXPECT_EQ(out_.str(), "done\n");
  EXPECT_EQ(err_.str(), "[1/2] batch size 1\ntfaot: warning: careful\n[2/2] batch size 2\n");
}

TEST_F(ConsoleTest, VerboseTellsDetails) {
  Console console({out_, err_, true});  // no bar, which the details would tear
  console.set_verbosity(Verbosity::kVerbose);
  two_steps(console);
  EXPECT_EQ(err_.str(),
            "[1/2] batch size 1\ndetail\ntfaot: warning: careful\n[2/2] batch size 2\n");
}

TEST_F(ConsoleTest, QuietTellsWarningsAndErrors) {
  Console console({out_, err_, true});
  console.set_verbosity(Verbosity::kQuiet);
  two_steps(console);
  console.error(Error::at({"a.yaml", 3, 4}, "wrong").note("do right"));
  console.print("asked for\n");
  EXPECT_EQ(out_.str(), "asked for\n");
  EXPECT_EQ(err_.str(), "tfaot: warning: careful\ntfaot: error: a.yaml:3:4: wrong\n  do right\n");
}

TEST_F(ConsoleTest, BarOnATerminal) {
  Console console({out_, err_, true});
  console.progress(1, 2, "batch size 1");
  const std::string half = err_.str();
  EXPECT_EQ(std::count(half.begin(), half.end(), '*'), 25);
  console.progress(2, 2, "batch size 2");
  const std::string whole = err_.str();
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '*'), 51);
  EXPECT_THAT(whole, ::testing::EndsWith("*\n"));
}

TEST_F(ConsoleTest, NothingPrintedReachesTheTerminalsControls) {
  Console console({out_, err_, false});
  console.set_verbosity(Verbosity::kVerbose);
  const std::string evil = "a\x1b[2Jb\xff";
  const std::string harmless = "a\\u001b[2Jb\\xff";
  console.print(evil + "\n");
  console.report(evil + "\n");
  EXPECT_EQ(out_.str(), harmless + "\n" + harmless + "\n");
  console.error(Error::at({evil}, evil).note(evil));
  console.warning(evil);
  console.verbose(evil);
  console.progress(1, 2, evil);
  EXPECT_EQ(err_.str().find('\x1b'), std::string::npos);
  EXPECT_EQ(err_.str().find('\xff'), std::string::npos);
}

TEST_F(ConsoleTest, AnErrorStandsBelowAnUnfinishedBar) {
  Console console({out_, err_, true});
  console.progress(1, 2, "batch size 1");
  console.error(Error("wrong"));
  EXPECT_THAT(err_.str(), ::testing::EndsWith("*\ntfaot: error: wrong\n"));
}

}  // namespace
}  // namespace tfaot::toolkit
