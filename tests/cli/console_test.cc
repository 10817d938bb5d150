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
  Console console({out_, err_});
  two_steps(console);
  EXPECT_EQ(out_.str(), "done\n");
  EXPECT_EQ(err_.str(), "[1/2] batch size 1\ntfaot: warning: careful\n[2/2] batch size 2\n");
}

TEST_F(ConsoleTest, VerboseTellsDetails) {
  Console console({out_, err_, 80});  // plain lines: the details would come between
  console.set_verbosity(Verbosity::kVerbose);
  two_steps(console);
  EXPECT_EQ(err_.str(),
            "[1/2] batch size 1\ndetail\ntfaot: warning: careful\n[2/2] batch size 2\n");
}

TEST_F(ConsoleTest, QuietTellsWarningsAndErrors) {
  Console console({out_, err_, 80});
  console.set_verbosity(Verbosity::kQuiet);
  two_steps(console);
  console.error(Error::at({"a.yaml", 3, 4}, "wrong").note("do right"));
  console.print("asked for\n");
  EXPECT_EQ(out_.str(), "asked for\n");
  EXPECT_EQ(err_.str(), "tfaot: warning: careful\ntfaot: error: a.yaml:3:4: wrong\n  do right\n");
}

TEST_F(ConsoleTest, OneLineOnATerminalNamesTheStep) {
  Console console({out_, err_, 80});
  console.progress(1, 3, "batch size 1");
  EXPECT_EQ(err_.str(), "[1/3] batch size 1");
  console.progress(2, 3, "batch size 2");
  EXPECT_EQ(err_.str(), "[1/3] batch size 1\r\x1b[K[2/3] batch size 2");
  console.progress(3, 3, "batch size 4");
  EXPECT_THAT(err_.str(), ::testing::EndsWith("size 2\r\x1b[K"));  // results follow
}

TEST_F(ConsoleTest, ProgressFitsTheTerminalAndCutsNoWord) {
  Console console({out_, err_, 30});
  console.progress(1, 2, "tagger, 16 rows, at x86-64-v3");
  EXPECT_EQ(err_.str(), "[1/2] tagger, 16 rows, at ...");
  console.progress(1, 2,
                   "gr\xc3\xbc\xc3\x9f"
                   "eausdemfernenl\xc3\xa4ndchenwort");  // one long word
  EXPECT_THAT(err_.str(), ::testing::EndsWith("\r\x1b[K[1/2] ..."));
}

TEST_F(ConsoleTest, ColoursOnlyWhereAskedFor) {
  const auto all = [](Console& console) {
    console.error(Error("no").note("why"));
    console.warning("careful");
    console.print("model m: compiles\n  x: y\n", Tone::kGood);
    console.print("model m: fails\n", Tone::kBad);
    console.print("model m: plain\n");
  };
  Console plain({out_, err_});
  all(plain);
  EXPECT_EQ(out_.str() + err_.str(),
            "model m: compiles\n  x: y\nmodel m: fails\nmodel m: plain\n"
            "tfaot: error: no\n  why\ntfaot: warning: careful\n");
  out_.str("");
  err_.str("");
  Console coloured({out_, err_, 0, true, true});
  all(coloured);
  EXPECT_EQ(out_.str(),
            "model m: \x1b[1;32mcompiles\x1b[0m\n  x: y\nmodel m: \x1b[1;31mfails\x1b[0m\n"
            "model m: plain\n");
  EXPECT_EQ(err_.str(),
            "tfaot: \x1b[1;31merror: \x1b[0mno\n  why\ntfaot: \x1b[1;33mwarning: \x1b[0mcareful\n");
}

TEST_F(ConsoleTest, NothingPrintedReachesTheTerminalsControls) {
  Console console({out_, err_});
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

TEST_F(ConsoleTest, AnErrorTakesThePlaceOfProgress) {
  Console console({out_, err_, 80});
  console.progress(1, 2, "batch size 1");
  console.error(Error("wrong"));
  EXPECT_THAT(err_.str(), ::testing::EndsWith("\r\x1b[Ktfaot: error: wrong\n"));
}

}  // namespace
}  // namespace tfaot::toolkit
